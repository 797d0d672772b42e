// Facts and readings of every device that NVML sees.
#pragma once

#include <vector>

#include "base/published.h"
#include "nvml/nvml.h"
#include "nvml/report.h"

namespace umaprobe {

// Lives on the NVML lane's thread. Remembers what does not change, so that a further reading costs
// the readings only.
class NvmlReader {
 public:
  void read(Flight& flight, const LibraryPaths& paths, Published<NvmlReport>& report);

 private:
  // A device is the same as long as NVML answers the same handle for its index.
  struct Known {
    nvmlDevice_t handle = nullptr;
    NvmlIdentity identity;
    Maybe<std::pair<int, int>> migMode;
    Clock::time_point migRead;
  };
  struct Versions {
    Maybe<std::string> driver;
    Maybe<std::string> nvml;
    Maybe<int> cuda;
  };

  const Nvml* connect(Flight& flight, const LibraryPaths& paths, Published<NvmlReport>& report);
  void read_versions(Flight& flight, const Nvml& nvml, Published<NvmlReport>& report);
  void read_device(Flight& flight, const Nvml& nvml, unsigned int index,
                   Published<NvmlReport>& report);

  Versions versions_;
  std::vector<Known> known_;
};

}  // namespace umaprobe

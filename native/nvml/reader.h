// Facts and readings of every device that NVML sees.
#pragma once

#include <vector>

#include "base/shared.h"
#include "nvml/nvml.h"
#include "nvml/report.h"

namespace umaprobe {

// Lives on the NVML lane's thread. Remembers what does not change, so that a further reading costs
// the readings only.
class NvmlReader {
 public:
  void read(CallContext& context, const MachineConfig& config, Shared<NvmlReport>& report);

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

  const Nvml* connect(CallContext& context, const MachineConfig& config,
                      Shared<NvmlReport>& report);
  void read_versions(CallContext& context, const Nvml& nvml, Shared<NvmlReport>& report);
  void read_device(CallContext& context, const Nvml& nvml, unsigned int index,
                   Shared<NvmlReport>& report);

  Versions versions_;
  std::vector<Known> known_;
};

}  // namespace umaprobe

// Reads every device that NVML sees.
#pragma once

#include <vector>

#include "base/shared.h"
#include "nvml/nvml.h"
#include "nvml/report.h"

namespace umaprobe {

// Runs on the NVML worker thread. Caches facts that do not change.
class NvmlReader {
 public:
  void read(CallContext& context, const MachineConfig& config, Shared<NvmlReport>& report);

 private:
  // Facts that are valid as long as NVML returns the same handle for the index.
  struct CachedDevice {
    nvmlDevice_t handle = nullptr;
    NvmlIdentity identity;
    Maybe<std::pair<int, int>> migMode;
    Clock::time_point migReadAt;
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
  std::vector<CachedDevice> cached_devices_;
};

}  // namespace umaprobe

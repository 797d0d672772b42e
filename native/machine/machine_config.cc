#include "machine/machine_config.h"

#include <dlfcn.h>

namespace umaprobe {

std::string own_path() {
  Dl_info info{};
  static const char here = 0;
  return dladdr(&here, &info) && info.dli_fname ? info.dli_fname : "";
}

LibraryPaths paths_on(std::string machine, std::string simulator) {
  LibraryPaths paths;
  if (machine.empty()) return paths;
  if (simulator.empty()) {
    const std::string own = own_path();
    simulator = own.substr(0, own.rfind('/') + 1) + "libumasim.so";
  }
  paths.machine = std::move(machine);
  paths.cudart = paths.cuda = paths.nvml = simulator;
  paths.simulator = std::move(simulator);
  return paths;
}

}  // namespace umaprobe

#include "machine/machine_config.h"

#include <dlfcn.h>

namespace umaprobe {

std::string addon_path() {
  Dl_info info{};
  static const char here = 0;
  return dladdr(&here, &info) && info.dli_fname ? info.dli_fname : "";
}

MachineConfig machine_config(std::string machine, std::string simulator) {
  MachineConfig config;
  if (machine.empty()) return config;
  if (simulator.empty()) {
    const std::string own = addon_path();
    simulator = own.substr(0, own.rfind('/') + 1) + "libumasim.so";
  }
  config.machine = std::move(machine);
  config.cudart = config.cuda = config.nvml = simulator;
  config.simulator = std::move(simulator);
  return config;
}

}  // namespace umaprobe

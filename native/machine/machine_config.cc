#include "machine/machine_config.h"

#include <dlfcn.h>

namespace umaprobe {

std::string addon_path() {
  Dl_info info{};
  static const char anchor = 0;
  return dladdr(&anchor, &info) && info.dli_fname ? info.dli_fname : "";
}

MachineConfig make_machine_config(std::string machine, std::string simulator) {
  MachineConfig config;
  if (machine.empty()) return config;
  if (simulator.empty()) {
    const std::string addon = addon_path();
    simulator = addon.substr(0, addon.rfind('/') + 1) + "libumasim.so";
  }
  config.machine = std::move(machine);
  config.cudart = config.cuda = config.nvml = simulator;
  config.simulator = std::move(simulator);
  return config;
}

}  // namespace umaprobe

#include "paths.h"

#include <dlfcn.h>

#include <cstdlib>

namespace umaprobe {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_of(const std::string& preferred, const std::string& otherwise) {
  return preferred.empty() ? otherwise : preferred;
}

}  // namespace

std::string own_path() {
  Dl_info info{};
  static const char here = 0;
  return dladdr(&here, &info) && info.dli_fname ? info.dli_fname : "";
}

LibraryPaths LibraryPaths::from_environment() {
  LibraryPaths paths;
  paths.machine = variable("UMAPROBE_SIM");
  if (paths.simulated()) {
    const std::string own = own_path();
    const std::string beside = own.substr(0, own.rfind('/') + 1) + "libumasim.so";
    paths.simulator = first_of(variable("UMAPROBE_SIM_LIBRARY"), beside);
  }
  // A simulated kernel under real GPU libraries would be two machines in one report.
  paths.cudart = first_of(variable("UMAPROBE_CUDART"), paths.simulator);
  paths.cuda = first_of(variable("UMAPROBE_CUDA"), paths.simulator);
  paths.nvml = first_of(variable("UMAPROBE_NVML"), paths.simulator);
  return paths;
}

}  // namespace umaprobe

// Which files the libraries are to be opened from, and whether this process is on a simulated
// machine.
#pragma once

#include <string>

namespace umaprobe {

struct LibraryPaths {
  // UMAPROBE_CUDART, UMAPROBE_CUDA, UMAPROBE_NVML; empty: the usual names.
  std::string cudart;
  std::string cuda;
  std::string nvml;
  // UMAPROBE_SIM: state file of a simulated machine; empty: the real one.
  std::string machine;
  // libumasim.so: UMAPROBE_SIM_LIBRARY, else beside this addon.
  std::string simulator;

  bool simulated() const { return !machine.empty(); }

  // Call it on the JavaScript thread: getenv() in another thread races with `process.env.X = ...`,
  // which is setenv().
  static LibraryPaths from_environment();
};

// The shared object that holds this code.
std::string own_path();

}  // namespace umaprobe

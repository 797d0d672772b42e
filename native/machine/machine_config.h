// Which machine an environment reads, and from which files its libraries are to be opened.
#pragma once

#include <optional>
#include <string>

#include "base/failure.h"

namespace umaprobe {

struct MachineConfig {
  // UMAPROBE_SIM: state file of a simulated machine; empty: the real one.
  std::string machine;
  // UMAPROBE_SIM_LIBRARY: libumasim.so; empty on the real machine.
  std::string simulator;
  // UMAPROBE_CUDART, UMAPROBE_CUDA, UMAPROBE_NVML; empty: the usual names.
  std::string cudart;
  std::string cuda;
  std::string nvml;
  // Set: the process is on another machine, or this one cannot be had. Nothing is read or opened.
  std::optional<Failure> error;

  bool simulated() const { return !machine.empty(); }

  // As variables, which put another process on the same; empty is as good as not set.
  template <class Visitor>
  void visit(Visitor& field) const {
    field("UMAPROBE_SIM", machine);
    field("UMAPROBE_SIM_LIBRARY", simulator);
    field("UMAPROBE_CUDART", cudart);
    field("UMAPROBE_CUDA", cuda);
    field("UMAPROBE_NVML", nvml);
  }
};

// A simulated machine whose libraries are all the simulator's, or the real one where `machine` is
// empty. `simulator` empty: the one beside this addon.
MachineConfig machine_config(std::string machine, std::string simulator);

// The shared object that holds this code.
std::string addon_path();

}  // namespace umaprobe

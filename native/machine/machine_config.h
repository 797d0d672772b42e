// The machine that an environment reads, and the files of its libraries.
#pragma once

#include <optional>
#include <string>

#include "base/failure.h"

namespace umaprobe {

struct MachineConfig {
  // UMAPROBE_SIM: state file of a simulated machine; empty for the real one.
  std::string machine;
  // UMAPROBE_SIM_LIBRARY: libumasim.so; empty on the real machine.
  std::string simulator;
  // UMAPROBE_CUDART, UMAPROBE_CUDA, UMAPROBE_NVML; empty for the default names.
  std::string cudart;
  std::string cuda;
  std::string nvml;
  // The failure if the process uses another machine, or this one is unavailable. Then nothing is
  // read or opened.
  std::optional<Failure> error;

  bool simulated() const { return !machine.empty(); }

  // Lists environment variables that select the same machine in another process. Empty means unset.
  template <class Visitor>
  void visit(Visitor& field) const {
    field("UMAPROBE_SIM", machine);
    field("UMAPROBE_SIM_LIBRARY", simulator);
    field("UMAPROBE_CUDART", cudart);
    field("UMAPROBE_CUDA", cuda);
    field("UMAPROBE_NVML", nvml);
  }
};

// A simulated machine whose libraries are all the simulator, or the real one if `machine` is empty.
// `simulator` defaults to the file beside this addon.
MachineConfig make_machine_config(std::string machine, std::string simulator);

// The shared object that contains this code.
std::string addon_path();

}  // namespace umaprobe

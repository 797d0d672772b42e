#include "machine/process_machine.h"

#include <cerrno>
#include <mutex>

#include "machine/simulator.h"

namespace umaprobe {
namespace {

struct Decision {
  std::mutex mutex;
  std::optional<std::string> machine;
};

Decision& decision() {
  static auto& once = *new Decision;  // worker threads may outlive static destruction
  return once;
}

std::string called(const std::string& machine) {
  return machine.empty() ? "the real machine" : "the simulated machine in " + machine;
}

// EBUSY: a process that wants another machine has to be another process.
Failure elsewhere(const std::string& here, const std::string& wanted) {
  return {"sim", "enter " + called(wanted), EBUSY, "EBUSY",
          "this process has already read " + called(here) +
              " and stays on it; start a new process, or use: umaprobe sim run"};
}

}  // namespace

std::optional<Failure> enter_machine(const MachineConfig& config) {
  Decision& decided = decision();
  std::lock_guard<std::mutex> lock(decided.mutex);
  if (decided.machine && *decided.machine != config.machine)
    return elsewhere(*decided.machine, config.machine);
  if (config.simulated()) {
    // Each time: these paths may lead to another copy of the simulator.
    if (auto failure = attach(config.simulator, config.machine)) return failure;
  }
  decided.machine = config.machine;
  return std::nullopt;
}

}  // namespace umaprobe

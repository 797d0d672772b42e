#include "machine/process_machine.h"

#include <cerrno>
#include <mutex>

#include "machine/simulator.h"

namespace umaprobe {
namespace {

struct ProcessMachine {
  std::mutex mutex;
  std::optional<std::string> machine;  // empty: not decided yet
};

ProcessMachine& process_machine() {
  static auto& once = *new ProcessMachine;  // worker threads may outlive static destruction
  return once;
}

std::string describe(const std::string& machine) {
  return machine.empty() ? "the real machine" : "the simulated machine in " + machine;
}

// EBUSY: another machine requires another process.
Failure busy_failure(const std::string& current, const std::string& wanted) {
  return {"sim", "enter " + describe(wanted), EBUSY, "EBUSY",
          "this process has already read " + describe(current) +
              " and stays on it; start a new process, or use: umaprobe sim run"};
}

}  // namespace

std::optional<Failure> enter_machine(const MachineConfig& config) {
  ProcessMachine& decided = process_machine();
  std::lock_guard<std::mutex> lock(decided.mutex);
  if (decided.machine && *decided.machine != config.machine)
    return busy_failure(*decided.machine, config.machine);
  if (config.simulated()) {
    // Attaches each time, because the config may name another copy of the simulator.
    if (auto failure = attach_machine(config.simulator, config.machine)) return failure;
  }
  decided.machine = config.machine;
  return std::nullopt;
}

}  // namespace umaprobe

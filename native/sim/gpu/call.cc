#include "sim/gpu/call.h"

#include <algorithm>
#include <cstring>

#include "abi/cuda.h"
#include "abi/nvml.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

bool matches(const char* pattern, const char* name) {
  const size_t length = std::strlen(pattern);
  if (length > 0 && pattern[length - 1] == '*') return std::strncmp(pattern, name, length - 1) == 0;
  return std::strcmp(pattern, name) == 0;
}

// Counts a matching call. Returns whether the fault hits it.
bool hit(const Fault& fault, uint64_t* calls, const char* name, int device) {
  if (fault.device != device || !matches(fault.call, name)) return false;
  const uint64_t earlier = (*calls)++;
  return earlier >= fault.after && earlier - fault.after < fault.times;
}

struct FaultEffect {
  double hang_ms;
  int status;
};

// The effect of the faults that are limited to `device`, or with -1 of those that are not limited.
// Callers hold the lock.
FaultEffect apply_faults(State& state, const char* name, int device) {
  const Machine& machine = state.machine;
  FaultEffect effect{0, 0};
  for (int i = 0; i < machine.hang_count; i++) {
    const bool hangs = hit(machine.hangs[i], &state.hang_calls[i], name, device);
    if (hangs) effect.hang_ms += machine.hangs[i].hang_ms;
  }
  for (int i = 0; i < machine.fail_count; i++) {
    const bool fails = hit(machine.fails[i], &state.fail_calls[i], name, device);
    if (fails && effect.status == 0) effect.status = static_cast<int>(machine.fails[i].status);
  }
  if (effect.hang_ms > 0) state.world.counters.calls_blocked++;
  return effect;
}

bool has_faults_of(const Machine& machine, int device) {
  const auto concerns = [&](const Fault& fault) { return fault.device == device; };
  return std::any_of(machine.hangs, machine.hangs + machine.hang_count, concerns) ||
         std::any_of(machine.fails, machine.fails + machine.fail_count, concerns);
}

// The status of a call without a machine: that of a library without a driver.
int no_driver(Library library) {
  switch (library) {
    case Library::kCudart:
      return umaprobe::kCudaInsufficientDriver;
    case Library::kCuda:
      return umaprobe::kCudaNoDevice;
    default:
      return umaprobe::kNvmlDriverNotLoaded;
  }
}

int no_library(const Machine& machine, Library library) {
  if (library == Library::kNvml) return machine.lacks_nvml ? umaprobe::kNvmlLibraryNotFound : 0;
  if (library == Library::kCuda) return machine.lacks_cuda ? umaprobe::kCudaStubLibrary : 0;
  // An installed runtime without a driver returns the same status as a missing runtime.
  return machine.lacks_cudart || machine.lacks_cuda ? umaprobe::kCudaInsufficientDriver : 0;
}

}  // namespace

bool has_library(const Machine& machine, Library library) {
  switch (library) {
    case Library::kCudart:
      return !machine.lacks_cudart;
    case Library::kCuda:
      return !machine.lacks_cuda;
    default:
      return !machine.lacks_nvml;
  }
}

bool has_symbol(const Machine& machine, const char* name) {
  for (int i = 0; i < machine.missing_count; i++) {
    if (std::strcmp(machine.missing_symbols[i], name) == 0) return false;
  }
  return true;
}

Call::Call(Library library, const char* name)
    : session_(umasim::session()), library_(library), name_(name), refusal_(0) {
  if (session_ == nullptr) {
    refusal_ = no_driver(library);
    return;
  }
  State& state = *session_->state;
  const Machine& machine = state.machine;
  refusal_ = no_library(machine, library);
  if (refusal_ == 0 && !has_symbol(machine, name)) {
    refusal_ = library == Library::kNvml ? int{umaprobe::kNvmlFunctionNotFound}
                                         : int{umaprobe::kCudaNotSupported};
  }
  if (refusal_ != 0) return;
  FaultEffect effect{0, 0};
  bool wedged;
  {
    const Locked locked(state);
    effect = apply_faults(state, name, -1);
    wedged = state.world.wedge.happened;
  }
  if (wedged) block_forever(state);
  sleep_ms(state, effect.hang_ms);
  refusal_ = effect.status;
}

int Call::refusal_of(int device) const {
  State& current = state();
  // The lock that the constructor took has advanced the world to the present.
  if (library_ == Library::kNvml && is_lost(current, device)) return umaprobe::kNvmlGpuIsLost;
  if (!has_faults_of(current.machine, device)) return 0;
  FaultEffect effect{0, 0};
  {
    const Locked locked(current);
    effect = apply_faults(current, name_, device);
  }
  sleep_ms(current, effect.hang_ms);
  return effect.status;
}

}  // namespace umasim

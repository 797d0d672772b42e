#include "sim/gpu/call.h"

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
bool hit(const Fault& fault, uint64_t* calls, const char* name) {
  if (!matches(fault.call, name)) return false;
  const uint64_t earlier = (*calls)++;
  return earlier >= fault.after && earlier - fault.after < fault.times;
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
    : session_(umasim::session()), name_(name), refusal_(0) {
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
  double hang_ms = 0;
  bool wedged;
  {
    const Locked locked(state);
    for (int i = 0; i < machine.hang_count; i++) {
      if (hit(machine.hangs[i], &state.hang_calls[i], name)) hang_ms += machine.hangs[i].hang_ms;
    }
    for (int i = 0; i < machine.fail_count; i++) {
      if (hit(machine.fails[i], &state.fail_calls[i], name) && refusal_ == 0) {
        refusal_ = static_cast<int>(machine.fails[i].status);
      }
    }
    if (hang_ms > 0) state.world.counters.calls_blocked++;
    wedged = state.world.wedge.happened;
  }
  if (wedged) block_forever(state);
  sleep_ms(state, hang_ms);
}

}  // namespace umasim

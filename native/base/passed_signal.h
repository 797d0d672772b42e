// A signal to umaprobe that is for its program, as the handler of umaprobe's process writes it to
// the pipe that the guard reads.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

namespace umaprobe {

struct PassedSignal {
  int32_t number;
  int32_t code;     // si_code
  uintptr_t value;  // SI_QUEUE's value
};

// The guard marks the signals by which it stops and continues umaprobe with the program. Their
// si_value holds the mark and the program's pid.
constexpr uint64_t kFromGuard = uint64_t{0x756d61} << 32;
inline sigval marked(pid_t program) {
  sigval value{};
  value.sival_ptr = reinterpret_cast<void*>(kFromGuard | static_cast<uint32_t>(program));
  return value;
}
// The program of a marked signal; 0: the signal has no mark.
inline pid_t program_of(const siginfo_t& info) {
  const auto value = reinterpret_cast<uintptr_t>(info.si_value.sival_ptr);
  const bool is_marked = info.si_code == SI_QUEUE && value >> 32 == kFromGuard >> 32;
  return is_marked ? static_cast<pid_t>(value & UINT32_MAX) : 0;
}

}  // namespace umaprobe

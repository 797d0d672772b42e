// A signal to umaprobe that is for its program, as the handler of umaprobe's process writes it to
// the pipe that the guard reads.
#pragma once

#include <csignal>
#include <cstdint>

namespace umaprobe {

struct PassedSignal {
  int32_t number;
  int32_t code;     // si_code
  uintptr_t value;  // SI_QUEUE's value
};

// si_value of the stop signals and SIGCONT by which the guard stops and continues umaprobe with the
// program: these are not for the program.
constexpr int kFromGuard = 0x756d61;

}  // namespace umaprobe

// The clock of every duration and deadline: steady_clock, which is CLOCK_MONOTONIC on Linux.
#pragma once

#include <chrono>

namespace umaprobe {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace umaprobe

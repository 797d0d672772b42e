// The clock of every duration and deadline: steady_clock, which is CLOCK_MONOTONIC on Linux.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace umaprobe {

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

inline Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

// CPU time of this process, or of the calling thread, in milliseconds.
inline double cpu_ms(clockid_t of) {
  timespec used{};
  clock_gettime(of, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

// Microseconds since boot, for recordings: they go on while the machine sleeps.
inline int64_t boot_us() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace umaprobe

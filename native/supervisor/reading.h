// One reading of the machine, and of what the program takes of it.
#pragma once

#include <cmath>
#include <limits>

namespace umaprobe {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool known(double value) { return !std::isnan(value); }

// Bytes, unless it says otherwise; kUnknown: not read.
struct Reading {
  double t = 0;  // machine time in seconds
  double available = kUnknown;
  double free = kUnknown;
  double pressure = kUnknown;     // PSI full avg10, percent
  double free_blocks = kUnknown;  // in blocks of 2 MiB and more
  double swap_free = kUnknown;
  double swap_total = kUnknown;
  double pool = kUnknown;       // of MemTotal, in no line of meminfo: the driver's
  double group = kUnknown;      // host memory of the program
  double group_gpu = kUnknown;  // 0 without a GPU
  double group_gpu_at = 0;      // machine time at which it was read
};

}  // namespace umaprobe

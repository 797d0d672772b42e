// One reading of the machine, and of the processes that hold its memory.
#pragma once

#include "host/memory_reader.h"

namespace umaprobe {

// Memory that the program and all processes of the machine hold, measured at one time, in bytes.
struct Holdings {
  double t = kUnknown;                  // machine time
  double left = kUnknown;               // memory that programs could get then
  double group = kUnknown;              // host memory of the program
  double group_gpu = kUnknown;          // 0 without a GPU
  double group_gpu_of_host = kUnknown;  // the part on GPUs that share the host's memory
  // Memory that belongs to a process alone: that of all processes with `left`, at least and at most
  // during the measurement, and that of the program.
  double all = kUnknown, all_least = kUnknown, all_most = kUnknown;
  double own = kUnknown;
  double others_gpu = kUnknown;  // other processes' memory of the host, on GPUs that share it
  double gpu_at = 0;             // machine time at which NVML was read
};

struct Reading : MemoryReading {
  Holdings held;  // measured last
};

}  // namespace umaprobe

// One reading of the machine, and of who holds its memory.
#pragma once

#include "host/memory_reader.h"

namespace umaprobe {

// What the program and all processes of the machine hold, measured at one time. Bytes.
struct Holdings {
  double t = kUnknown;          // machine time
  double left = kUnknown;       // what programs could get then
  double group = kUnknown;      // host memory of the program
  double group_gpu = kUnknown;  // 0 without a GPU
  // Memory that belongs to a process, and to nothing else: of all processes, at least and at most
  // while it was measured, and of the program.
  double all_least = kUnknown, all_most = kUnknown;
  double own = kUnknown;
  double others_gpu = kUnknown;  // of the host's memory, on GPUs that share it
  double gpu_at = 0;             // machine time at which NVML was read
};

struct Reading : MemoryReading {
  Holdings held;  // measured last
};

}  // namespace umaprobe

// One reading of the machine, and of what the program takes of it.
#pragma once

#include "host/memory_reader.h"

namespace umaprobe {

struct Reading : MemoryReading {
  double group = kUnknown;      // host memory of the program, bytes
  double group_gpu = kUnknown;  // 0 without a GPU
  double group_gpu_at = 0;      // machine time at which it was read
};

}  // namespace umaprobe

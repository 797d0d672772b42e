// cudaMemGetInfo, word for word; over the driver where no runtime is usable.
#pragma once

#include "cuda_connection.h"

namespace umaprobe {

// On whose thread: a caller's gets back the device that was current. On our own that would be
// waste, and more than time: since CUDA 12 cudaSetDevice creates a context on the device that it
// names.
enum class Thread { kCallers, kOurs };

// Creates a context on the device if there is none.
Fact<FreeAndTotal> mem_get_info(Flight& flight, const CudaConnection& cuda, int device,
                                Thread thread);

}  // namespace umaprobe

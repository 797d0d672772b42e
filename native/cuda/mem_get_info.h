// cudaMemGetInfo, word for word; over the driver where no runtime is usable.
#pragma once

#include "cuda/connection.h"

namespace umaprobe {

// On whose thread: a caller's has the same device current afterwards. On our own it does not
// matter, and is left as the call made it.
enum class Thread { kCallers, kOurs };

// Creates a context on the device if there is none.
Fact<FreeAndTotal> mem_get_info(CallContext& context, const CudaConnection& cuda, int device,
                                Thread thread);

}  // namespace umaprobe

// cudaMemGetInfo, unmodified; through the driver if no runtime is usable.
#pragma once

#include "cuda/connection.h"

namespace umaprobe {

// Treatment of the thread's current device: preserved on a thread of the caller, changed freely on
// a worker thread.
enum class CurrentDevice { kPreserve, kMayChange };

// Creates a context on the device if there is none.
Fact<FreeAndTotal> mem_get_info(CallContext& context, const CudaConnection& cuda, int device,
                                CurrentDevice current_device);

}  // namespace umaprobe

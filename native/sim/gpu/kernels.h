// The two kernels that a simulated device can run: fill and verify of abi/pattern.h.
#pragma once
#include "sim/gpu/contexts.h"
#include "sim/gpu/kernel_images.h"

namespace umasim {

// Queues the kernel. Its effect on memory is complete on return; its end on the simulated clock is
// that of the device's queue.
int run_kernel(const Call& call, int device, const KernelFunction& function, void** parameters);

}  // namespace umasim

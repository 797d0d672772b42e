// The two kernels that a simulated device can run: fill and verify of abi/pattern.h.
#pragma once
#include "sim/gpu/contexts.h"
#include "sim/gpu/kernel_images.h"

namespace umasim {

// A CUDA grid or block.
struct Dimensions {
  unsigned int x, y, z;
};
bool is_grid(const Dimensions& grid);
bool is_block(const Dimensions& block);

// Queues the kernel. Its effect on memory is complete on return; its end on the simulated clock is
// that of the device's queue. Any other kernel is CUDA_ERROR_NOT_SUPPORTED.
int run_kernel(const Call& call, int device, const KernelFunction& function, void** parameters);

}  // namespace umasim

// CUDA runtime: launches of the kernels that a program has registered. `kernel<<<…>>>(…)` is a call
// of
// __cudaPushCallConfiguration and of the kernel's host function, which takes the configuration
// back and launches.
#include <vector>

#include "sim/abi/cudart.h"
#include "sim/gpu/kernels.h"
#include "sim/gpu/registered_kernels.h"
#include "sim/gpu/streams.h"

namespace umasim {
namespace {

constexpr int kInvalidConfiguration = 9, kMissingConfiguration = 52, kInvalidDeviceFunction = 98,
              kInvalidHandle = 400;

// cudaLaunchConfig_t.
struct LaunchConfiguration {
  Dimensions grid, block;
  size_t shared_bytes;
  Stream* stream;
  void* attributes;
  unsigned int attribute_count;
};

std::vector<LaunchConfiguration>& pushed() {
  thread_local std::vector<LaunchConfiguration> stack;
  return stack;
}

cudaError_t launch(const char* name, const KernelFunction* kernel, int if_null,
                   const Dimensions& grid, const Dimensions& block, void** arguments) {
  return with_context(name, [&](const Call& call, int device) {
    if (kernel == nullptr) return if_null;
    if (!is_grid(grid) || !is_block(block)) return kInvalidConfiguration;
    if (arguments == nullptr) return int{umaprobe::kCudaInvalidValue};
    return run_kernel(call, device, *kernel, arguments);
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API unsigned int __cudaPushCallConfiguration(Dimensions grid, Dimensions block,
                                                    size_t shared_bytes, Stream* stream) noexcept {
  pushed().push_back({grid, block, shared_bytes, stream, nullptr, 0});
  return 0;
}

UMASIM_API cudaError_t __cudaPopCallConfiguration(Dimensions* grid, Dimensions* block,
                                                  size_t* shared_bytes, void* stream) noexcept {
  if (pushed().empty()) return kMissingConfiguration;
  const LaunchConfiguration last = pushed().back();
  pushed().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<Stream**>(stream) = last.stream;
  return 0;
}

UMASIM_API cudaError_t cudaLaunchKernel(const void* host_function, Dimensions grid,
                                        Dimensions block, void** arguments, size_t,
                                        Stream*) noexcept {
  return launch(__func__, registered_kernel(host_function), kInvalidDeviceFunction, grid, block,
                arguments);
}

UMASIM_API cudaError_t cudaLaunchKernelExC(const LaunchConfiguration* configuration,
                                           const void* host_function, void** arguments) noexcept {
  if (configuration == nullptr) return umaprobe::kCudaInvalidValue;
  return launch(__func__, registered_kernel(host_function), kInvalidDeviceFunction,
                configuration->grid, configuration->block, arguments);
}

// A program of CUDA 12.1 and later asks for the handle of its kernel once, and launches that.
UMASIM_API cudaError_t __cudaGetKernel(const KernelFunction** kernel,
                                       const void* host_function) noexcept {
  *kernel = registered_kernel(host_function);
  return *kernel == nullptr ? kInvalidDeviceFunction : 0;
}

UMASIM_API cudaError_t cudaGetKernel(const KernelFunction** kernel,
                                     const void* host_function) noexcept {
  return kernel == nullptr ? int{umaprobe::kCudaInvalidValue}
                           : __cudaGetKernel(kernel, host_function);
}

UMASIM_API cudaError_t __cudaLaunchKernel(const KernelFunction* kernel, Dimensions grid,
                                          Dimensions block, void** arguments, size_t,
                                          Stream*) noexcept {
  return launch("cudaLaunchKernel", is_registered(kernel) ? kernel : nullptr, kInvalidHandle, grid,
                block, arguments);
}

UMASIM_OTHER_STREAM(cudaLaunchKernel, ptsz);
UMASIM_OTHER_STREAM(cudaLaunchKernelExC, ptsz);
UMASIM_OTHER_STREAM(__cudaLaunchKernel, ptsz);

#include "alloc/pattern_kernels.h"

#include <algorithm>

#include "alloc/pattern_ptx.h"

namespace umaprobe {
namespace {

constexpr unsigned int kThreads = 256;  // .maxntid of the kernels

// Fills each multiprocessor with threads (2048 at most), so that memory is the bottleneck.
constexpr unsigned int kBlocksPerProcessor = 8;

}  // namespace

std::optional<Failure> PatternKernels::load(CallContext& context, const CudaDriver& driver,
                                            int processors) {
  driver_ = &driver;
  blocks_ = static_cast<unsigned int>(std::max(processors, 1)) * kBlocksPerProcessor;
  if (!module_) {
    CUmodule module = nullptr;
    auto failure = call(context, driver, driver.cuModuleLoadData, &module,
                        static_cast<const void*>(kPatternKernels));
    if (failure) return failure;
    module_ = module;
  }
  if (!result_) {
    auto failure = call(context, driver, driver.cuMemAlloc_v2, &result_, sizeof(VerifyResult));
    if (failure) return failure;
  }
  CUfunction verify = nullptr;
  auto failure = call(context, driver, driver.cuModuleGetFunction, &fill_, module_, kFillKernel);
  if (!failure)
    failure = call(context, driver, driver.cuModuleGetFunction, &verify, module_, kVerifyKernel);
  // Detects missing functions here rather than at the first block.
  if (!failure && !driver.cuLaunchKernel)
    failure = symbol_missing(driver.library.path, driver.cuLaunchKernel.name);
  if (!failure && !driver.cuCtxSynchronize)
    failure = symbol_missing(driver.library.path, driver.cuCtxSynchronize.name);
  if (!failure) verify_ = verify;
  return failure;
}

void PatternKernels::unload(CallContext& context) {
  verify_ = nullptr;
  if (result_) call_always(context, *driver_, driver_->cuMemFree_v2, result_);
  if (module_) call_always(context, *driver_, driver_->cuModuleUnload, module_);
  result_ = 0;
  module_ = nullptr;
}

std::optional<Failure> PatternKernels::fill(CallContext& context, void* address, uint64_t bytes,
                                            uint64_t seed, uint64_t offset) {
  CUdeviceptr base = reinterpret_cast<uintptr_t>(address);
  void* parameters[] = {&base, &bytes, &seed, &offset};
  return launch(context, fill_, bytes, parameters);
}

std::optional<Failure> PatternKernels::verify(CallContext& context, void* address, uint64_t bytes,
                                              uint64_t seed, uint64_t offset,
                                              VerifyResult& result) {
  VerifyResult slice{0, kNoMismatch};
  auto failure = call(context, *driver_, driver_->cuMemcpyHtoD_v2, result_,
                      static_cast<const void*>(&slice), sizeof slice);
  if (failure) return failure;
  CUdeviceptr base = reinterpret_cast<uintptr_t>(address);
  void* parameters[] = {&base, &bytes, &seed, &offset, &result_};
  failure = launch(context, verify_, bytes, parameters);
  if (failure) return failure;
  failure = call(context, *driver_, driver_->cuMemcpyDtoH_v2, static_cast<void*>(&slice), result_,
                 sizeof slice);
  if (failure) return failure;
  result.mismatches += slice.mismatches;
  result.first_mismatch = std::min(result.first_mismatch, slice.first_mismatch);
  return std::nullopt;
}

std::optional<Failure> PatternKernels::launch(CallContext& context, CUfunction kernel,
                                              uint64_t bytes, void** parameters) {
  constexpr uint64_t kBytesPerBlock = uint64_t{kThreads} * 16;
  const uint64_t wanted = (bytes + kBytesPerBlock - 1) / kBytesPerBlock;
  const auto blocks = static_cast<unsigned int>(std::clamp<uint64_t>(wanted, 1, blocks_));
  auto failure =
      call(context, *driver_, driver_->cuLaunchKernel, kernel, blocks, 1u, 1u, kThreads, 1u, 1u, 0u,
           static_cast<CUstream>(nullptr), parameters, static_cast<void**>(nullptr));
  // Errors on the device are reported by the call that waits for it.
  if (!failure) failure = call(context, *driver_, driver_->cuCtxSynchronize);
  return failure;
}

}  // namespace umaprobe

// The kernels of pattern.h on a device: every byte written, every byte read back and compared, by
// the GPU itself.
#pragma once

#include "abi/pattern.h"
#include "cuda/driver.h"

namespace umaprobe {

// Belongs to the CUDA lane's thread and to the context that is current there. Does not unload
// itself: at the end of the process CUDA may be gone before it.
class PatternKernels {
 public:
  // `processors`: of the device; decides how many threads there are.
  std::optional<Failure> load(CallContext& context, const CudaDriver& driver, int processors);
  void unload(CallContext& context);
  bool loaded() const { return verify_ != nullptr; }

  // Both wait for the device. `offset`, a multiple of 16, is that of `address` in its block.
  std::optional<Failure> fill(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                              uint64_t offset);
  // Adds to `found`.
  std::optional<Failure> verify(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                                uint64_t offset, VerifyResult& found);

 private:
  std::optional<Failure> launch(CallContext& context, CUfunction kernel, uint64_t bytes,
                                void** parameters);

  const CudaDriver* driver_ = nullptr;
  unsigned int blocks_ = 0;
  CUmodule module_ = nullptr;
  CUfunction fill_ = nullptr;
  CUfunction verify_ = nullptr;
  CUdeviceptr result_ = 0;
};

}  // namespace umaprobe

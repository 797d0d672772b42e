// Loads and launches the GPU kernels of pattern.h: one writes every byte of a block, one reads
// every byte back and compares it.
#pragma once

#include "abi/pattern.h"
#include "cuda/driver.h"

namespace umaprobe {

// Runs on the CUDA worker thread, in the context that is current there. The destructor does not
// unload: at process exit CUDA may be shut down already.
class PatternKernels {
 public:
  // `processors`: multiprocessors of the device. They decide the number of threads.
  std::optional<Failure> load(CallContext& context, const CudaDriver& driver, int processors);
  void unload(CallContext& context);
  bool loaded() const { return verify_ != nullptr; }

  // Both wait for the device. `offset`: the place of `address` in its block, a multiple of 16.
  std::optional<Failure> fill(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                              uint64_t offset);
  // Adds to `result`.
  std::optional<Failure> verify(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                                uint64_t offset, VerifyResult& result);

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

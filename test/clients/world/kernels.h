// For scenarios: the fill and verify kernels, used as a program uses them.
#pragma once
#include <vector>

#include "abi/pattern.h"
#include "harness.h"

extern "C" {
struct CUmod_st;
struct CUfunc_st;
int cuModuleLoadData(CUmod_st**, const void*);
int cuModuleUnload(CUmod_st*);
int cuModuleGetFunction(CUfunc_st**, CUmod_st*, const char*);
int cuLaunchKernel(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
int cuCtxSynchronize();
}

namespace world {

constexpr uint64_t kMiB = 1ull << 20;
constexpr char kImage[] = R"(
// .entry commented_out (
.version 6.4
.target sm_60
.address_size 64
.visible .entry umaprobe_fill(.param .u64 base, .param .u64 bytes, .param .u64 seed, .param .u64 first)
{ ret; }
.visible .entry umaprobe_verify(
  .param .u64 base, .param .u64 bytes,
  .param .u64 seed, .param .u64 first, /* { */ .param .u64 result
)
{ ret; }
.visible .entry somebody_elses(.param .u32 n) { ret; }
)";

inline CUmod_st* load() {
  CUmod_st* module = nullptr;
  EXPECT(cudaFree(nullptr) == 0);
  EXPECT(cuModuleLoadData(&module, kImage) == 0);
  return module;
}

inline CUfunc_st* function(CUmod_st* module, const char* name) {
  CUfunc_st* found = nullptr;
  EXPECT(cuModuleGetFunction(&found, module, name) == 0, "%s", name);
  return found;
}

inline int launch(CUfunc_st* kernel, std::vector<uint64_t> values) {
  std::vector<void*> parameters;
  for (uint64_t& value : values) parameters.push_back(&value);
  return cuLaunchKernel(kernel, 100, 1, 1, 256, 1, 1, 0, nullptr, parameters.data(), nullptr);
}

// The two kernels, and a buffer for verify's result.
struct Kernels {
  Kernels()
      : module(load()),
        fills(function(module, umaprobe::kFillKernel)),
        verifies(function(module, umaprobe::kVerifyKernel)) {
    result = static_cast<char*>(allocate(16));
  }
  void fill(const void* base, uint64_t bytes, uint64_t seed, uint64_t first) {
    const int status = launch(fills, {reinterpret_cast<uintptr_t>(base), bytes, seed, first});
    EXPECT(status == 0 && cuCtxSynchronize() == 0, "%d", status);
  }
  umaprobe::VerifyResult verify(const void* base, uint64_t bytes, uint64_t seed, uint64_t first) {
    umaprobe::VerifyResult found{0, umaprobe::kNoMismatch};
    EXPECT(cudaMemcpy(result, &found, sizeof found, 1) == 0);
    const uint64_t to = reinterpret_cast<uintptr_t>(result);
    EXPECT(launch(verifies, {reinterpret_cast<uintptr_t>(base), bytes, seed, first, to}) == 0);
    EXPECT(cudaMemcpy(&found, result, sizeof found, 2) == 0);
    return found;
  }
  // The number of wrong bytes.
  uint64_t wrong(const void* base, uint64_t bytes, uint64_t seed, uint64_t first = 0) {
    return verify(base, bytes, seed, first).mismatches;
  }
  CUmod_st* module;
  CUfunc_st *fills, *verifies;
  char* result;
};

}  // namespace world

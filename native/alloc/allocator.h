// The allocator of one environment: allocates, fills, verifies and frees blocks of device memory.
//
// It runs on the CUDA worker thread. Each task makes the device's primary context current first,
// because readings on the same thread may have selected another device.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "alloc/block.h"
#include "alloc/pattern_kernels.h"
#include "alloc/report.h"
#include "alloc/stop_source.h"
#include "base/shared.h"
#include "base/values.h"
#include "cuda/connection.h"

namespace umaprobe {

class Allocator {
 public:
  // A terminating Node worker closes the allocator on its CUDA thread first (see Jobs). Nothing is
  // freed at process exit: this may be any thread, CUDA may be shut down already, and the system
  // reclaims the memory.
  ~Allocator();

  Fact<AllocatorReport> open(CallContext& context, const MachineConfig& config, int device);
  Fact<Allocated> alloc(CallContext& context, const std::string& kind, double bytes);
  Fact<Timing> touch(CallContext& context, int block, double seed);
  Fact<Verified> verify(CallContext& context, int block, double seed);
  Fact<Timing> free(CallContext& context, int block);
  // Frees every block it can, then returns the first failure.
  Fact<Freed> free_all(CallContext& context);
  // Frees everything and ignores failures. The allocator cannot be used afterwards.
  void close();

  // Returns the number of blocks and their bytes. Safe on any thread, like stop_source().
  std::pair<double, double> live() const {
    return live_.read([](const auto& live) { return live; });
  }
  StopSource& stop_source() { return stop_source_; }

 private:
  using Blocks = std::unordered_map<int, Block>;

  // "kernel", or why the kernels cannot be loaded.
  Fact<std::string> load_kernels(CallContext& context, int processors);
  std::optional<Failure> make_current(CallContext& context);
  // Makes the context current and finds the block, or returns why `call` cannot be made.
  Fact<Block*> find(CallContext& context, int block, const char* call);
  std::optional<Failure> fill(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                              uint64_t offset);
  std::optional<Failure> fill_with_memset(CallContext& context, void* address, uint64_t bytes,
                                          uint64_t seed);
  void count(int blocks, double bytes);

  CudaConnection cuda_;
  std::unique_ptr<Host> host_;
  AllocatorApi api_;
  CUcontext primary_context_ = nullptr;  // set only without a runtime
  PatternKernels kernels_;
  std::optional<AllocatorReport> report_;
  std::unique_ptr<Blocks> blocks_ = std::make_unique<Blocks>();
  int last_block_ = 0;
  Shared<std::pair<double, double>> live_;
  StopSource stop_source_;
};

}  // namespace umaprobe

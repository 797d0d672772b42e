// The allocator of one environment: blocks of device memory and what is done to them.
//
// Lives on the CUDA lane's thread, on which the device's primary context is made current before
// each job: readings on the same lane may have chosen another device.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "alloc/block.h"
#include "alloc/pattern_kernels.h"
#include "alloc/stop_source.h"
#include "base/shared.h"
#include "cuda/connection.h"

namespace umaprobe {

struct KindsReport {
  std::array<Maybe<std::string>, kKindCount> calls;

  template <class Visitor>
  void visit(Visitor& field) const {
    for (size_t i = 0; i < kKindCount; ++i) field(kKinds[i].name, calls[i]);
  }
};

struct AllocatorReport {
  KindsReport kinds;
  Fact<std::string> host;
  Fact<FreeAndTotal> memGetInfo;
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("kinds", kinds);
    field("kernel", host);
    field("memGetInfo", memGetInfo);
    field("durationMs", durationMs);
  }
};

struct Timing {
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
  }
};

struct Verified {
  double durationMs = 0;
  double mismatches = 0;
  std::optional<double> firstMismatch;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
    field("mismatches", mismatches);
    field.nullable("firstMismatch", firstMismatch);
  }
};

struct Allocated {
  int block = 0;
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("block", block);
    field("durationMs", durationMs);
  }
};

struct Freed {
  double durationMs = 0;
  int blocks = 0;
  double bytes = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
    field("blocks", blocks);
    field("bytes", bytes);
  }
};

class Allocator {
 public:
  // Where a worker ends its lane has closed it (see Jobs). At the end of the process nobody has,
  // and nothing is freed here: this may be any thread, CUDA may be on its way out as well, and the
  // process takes its memory with it.
  ~Allocator();

  Fact<AllocatorReport> open(CallContext& context, const MachineConfig& config, int device);
  Fact<Allocated> alloc(CallContext& context, const std::string& kind, double bytes);
  Fact<Timing> touch(CallContext& context, int block, double seed);
  Fact<Verified> verify(CallContext& context, int block, double seed);
  // Empty: done.
  std::optional<Failure> poke(CallContext& context, int block, double offset, int byte);
  Fact<Timing> free(CallContext& context, int block);
  // All that can be; then the first failure.
  Fact<Freed> free_all(CallContext& context);
  // Gives everything back, without a word. Nothing can be done with it any more.
  void close();

  // From any thread.
  std::pair<double, double> live() const {
    return live_.read([](const auto& live) { return live; });
  }
  StopSource& stop_source() { return stop_source_; }

 private:
  using Blocks = std::unordered_map<int, Block>;

  // "kernel", or why it is memset.
  Fact<std::string> load_kernels(CallContext& context, int processors);
  std::optional<Failure> make_current(CallContext& context);
  // Makes the context current and finds the block, or says why `call` cannot be made.
  Fact<Block*> find(CallContext& context, int block, const char* call);
  std::optional<Failure> fill(CallContext& context, void* address, uint64_t bytes, uint64_t seed,
                              uint64_t offset);
  std::optional<Failure> set(CallContext& context, void* address, uint64_t bytes, uint64_t seed);
  void count(int blocks, double bytes);

  CudaConnection cuda_;
  std::unique_ptr<Host> host_;
  AllocatorApi api_;
  CUcontext primary_context_ = nullptr;  // only where there is no runtime
  PatternKernels kernels_;
  std::optional<AllocatorReport> report_;
  std::unique_ptr<Blocks> blocks_ = std::make_unique<Blocks>();
  int last_block_ = 0;
  Shared<std::pair<double, double>> live_;
  StopSource stop_source_;
};

}  // namespace umaprobe

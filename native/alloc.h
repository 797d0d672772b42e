// The allocator of one environment: blocks of device memory and what is done to them.
//
// Lives on the CUDA lane's thread, on which the device's primary context is made current before
// each job: readings on the same lane may have chosen another device.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>

#include "block.h"
#include "brake.h"
#include "cuda_connection.h"

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
  Fact<std::string> kernel;
  Fact<FreeAndTotal> memGetInfo;
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("kinds", kinds);
    field("kernel", kernel);
    field("memGetInfo", memGetInfo);
    field("durationMs", durationMs);
  }
};

struct Took {
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
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

  Fact<AllocatorReport> open(Flight& flight, const LibraryPaths& paths, int device);
  Fact<Allocated> alloc(Flight& flight, const std::string& kind, double bytes);
  Fact<Took> touch(Flight& flight, int block, double seed);
  Fact<Took> free(Flight& flight, int block);
  // All that can be; then the first failure.
  Fact<Freed> free_all(Flight& flight);
  // Gives everything back, without a word.
  void close();

  // From any thread.
  std::pair<double, double> live() const {
    return live_.look([](const auto& live) { return live; });
  }
  Brake& brake() { return brake_; }

 private:
  using Blocks = std::unordered_map<int, Block>;

  // Why `call` on a block cannot be made; else makes the context current.
  std::optional<Failure> enter(Flight& flight, const char* call);
  std::optional<Failure> make_current(Flight& flight);
  Fact<Block*> find(int block, const char* call);
  std::optional<Failure> wait_for_device(Flight& flight);
  std::optional<Failure> fill(Flight& flight, const Block& block, uint64_t offset, uint64_t bytes,
                              uint64_t seed);
  void count(int blocks, double bytes);

  CudaConnection cuda_;
  std::unique_ptr<Kernel> kernel_;
  AllocatorLibraries with_;
  CUcontext context_ = nullptr;  // only where there is no runtime
  std::optional<AllocatorReport> report_;
  std::unique_ptr<Blocks> blocks_ = std::make_unique<Blocks>();
  int last_block_ = 0;
  Published<std::pair<double, double>> live_;
  Brake brake_;
};

}  // namespace umaprobe

#include "alloc/allocator.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "cuda/mem_get_info.h"
#include "runtime/time_slices.h"

namespace umaprobe {
namespace {

constexpr double kLargestInteger = 9007199254740991;  // 2^53 - 1, Number.MAX_SAFE_INTEGER

Failure allocator_failure(const char* call, const char* name, const std::string& message) {
  return {"umaprobe", call, std::nullopt, name, message};
}

Failure not_open(const char* call) {
  return allocator_failure(call, "NOT_OPEN", "there is no allocator: call allocOpen first");
}

// JavaScript numbers are doubles. A number out of range becomes seed 0.
uint64_t seed_of(double seed) {
  return seed >= 0 && seed <= kLargestInteger ? static_cast<uint64_t>(seed) : 0;
}

std::optional<Failure> check_size(double bytes) {
  if (bytes >= 1 && bytes <= kLargestInteger && std::floor(bytes) == bytes) return std::nullopt;
  return Failure{"umaprobe", "allocBlock", EINVAL, "EINVAL",
                 "size must be a whole number of bytes from 1 to 2^53 - 1"};
}

// cudaFree(nullptr) creates the context on CUDA 11, whose cudaSetDevice does not; CUDA 12's does.
std::optional<Failure> create_context(CallContext& context, const Cudart& runtime, int device) {
  auto failure = call(context, runtime, runtime.cudaSetDevice, device);
  if (!failure && runtime.cudaFree) {
    failure = call(context, runtime, runtime.cudaFree, static_cast<void*>(nullptr));
  }
  return failure;
}

// Retains the context once and never releases it, as the runtime does: other code of this process
// may have made it current.
std::optional<Failure> retain_context(CallContext& context, const CudaDriver& driver, int ordinal,
                                      CUcontext* primary) {
  CUdevice device = 0;
  auto failure = call(context, driver, driver.cuDeviceGet, &device, ordinal);
  if (!failure) failure = call(context, driver, driver.cuDevicePrimaryCtxRetain, primary, device);
  return failure;
}

uint64_t first_slice(const Block& block) {
  return block.populated() ? kPopulatedSlice : kSmallestSlice;
}

}  // namespace

Allocator::~Allocator() {
  if (!blocks_->empty()) static_cast<void>(blocks_.release());
}

Fact<AllocatorReport> Allocator::open(CallContext& context, const MachineConfig& config,
                                      int device) {
  if (report_) {
    if (device == api_.device) return *report_;
    return Failure{"umaprobe", "allocOpen", EBUSY, "EBUSY",
                   "this allocator already uses device " + std::to_string(api_.device)};
  }
  const auto start = Clock::now();
  cuda_.connect_runtime(context, config);
  cuda_.connect_driver(context, config);
  if (!cuda_.usable()) return std::get<Failure>(cuda_.device_count());
  if (!host_) host_ = open_host(config);
  api_ = {cuda_.runtime(), cuda_.driver(), host_.get(), device};
  // Detects a missing device before a context is created.
  const Fact<int> processors = device_attribute(context, api_, kAttrMultiProcessorCount);
  if (const Failure* failure = failure_of(processors)) return *failure;

  AllocatorReport report;
  for (const Kind& kind : all_kinds()) {
    report.kinds.rows.push_back({&kind, kind.supported(context, api_)});
  }
  if (!api_.runtime && !primary_context_) {
    if (auto failure = retain_context(context, *api_.driver, device, &primary_context_))
      return *failure;
  }
  auto failure =
      api_.runtime ? create_context(context, *api_.runtime, device) : make_current(context);
  if (failure) return std::move(*failure);
  report.patternKernels = load_kernels(context, std::get<int>(processors));
  report.memGetInfo = mem_get_info(context, cuda_, device, CurrentDevice::kMayChange);
  report.durationMs = milliseconds_since(start);
  if (context.cancelled())
    return allocator_failure("allocOpen", "CANCELLED", "the deadline has passed");
  report_ = report;
  return report;
}

Fact<Allocated> Allocator::alloc(CallContext& context, const std::string& name, double bytes) {
  if (!report_) return not_open("allocBlock");
  if (auto failure = check_size(bytes)) return std::move(*failure);
  const auto& rows = report_->kinds.rows;
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const KindsReport::Row& row) {
    return row.kind->name == name;
  });
  if (row == rows.end()) {
    return Failure{"umaprobe", "allocBlock", EINVAL, "EINVAL", "unknown kind of memory: " + name};
  }
  if (const Failure* failure = failure_of(row->call)) return *failure;
  const Kind& kind = *row->kind;
  if (auto failure = make_current(context)) return std::move(*failure);

  const StopSource::ActiveCall active(stop_source_);
  if (stop_source_.stopped()) return stopped_failure("allocBlock");
  void* address = nullptr;
  const auto size = static_cast<size_t>(bytes);
  const auto start = Clock::now();
  auto failure = kind.alloc(context, api_, size, &address);
  const double duration_ms = milliseconds_since(start);
  if (failure) return std::move(*failure);

  Block block(kind, api_, address, size);
  // The caller never learns of a block that came too late, so it is freed at once.
  if (context.cancelled() || stop_source_.stopped()) {
    if (auto failed = block.free(context)) return std::move(*failed);
    return stop_source_.stopped()
               ? stopped_failure("allocBlock")
               : allocator_failure("allocBlock", "CANCELLED", "the deadline has passed");
  }
  blocks_->emplace(++last_block_, std::move(block));
  count(1, bytes);
  return Allocated{last_block_, duration_ms};
}

Fact<Timing> Allocator::touch(CallContext& context, int id, double seed) {
  const Fact<Block*> found = find(context, id, "touchBlock");
  if (const Failure* failure = failure_of(found)) return *failure;
  Block& block = *std::get<Block*>(found);
  const StopSource::ActiveCall active(stop_source_);
  const auto start = Clock::now();
  auto failure = in_slices(block.bytes(), first_slice(block), [&](uint64_t offset, uint64_t bytes) {
    if (stop_source_.stopped()) return std::optional<Failure>(stopped_failure("touchBlock"));
    return fill(context, block.at(offset), bytes, seed_of(seed), offset);
  });
  const Timing timing{milliseconds_since(start)};
  if (!failure) block.set_populated();
  return fact(failure, timing);
}

Fact<Verified> Allocator::verify(CallContext& context, int id, double seed) {
  const Fact<Block*> found = find(context, id, "verifyBlock");
  if (const Failure* failure = failure_of(found)) return *failure;
  if (const Failure* reason = failure_of(report_->patternKernels)) {
    return allocator_failure(
        "verifyBlock", "NOT_SUPPORTED",
        "the GPU kernels could not be loaded: " + reason->call + ": " + reason->name);
  }
  const Block& block = *std::get<Block*>(found);
  const StopSource::ActiveCall active(stop_source_);
  VerifyResult result{0, kNoMismatch};
  const auto start = Clock::now();
  auto failure = in_slices(block.bytes(), first_slice(block), [&](uint64_t offset, uint64_t bytes) {
    if (stop_source_.stopped()) return std::optional<Failure>(stopped_failure("verifyBlock"));
    return kernels_.verify(context, block.at(offset), bytes, seed_of(seed), offset, result);
  });
  Verified verified{milliseconds_since(start), static_cast<double>(result.mismatches),
                    std::nullopt};
  if (result.first_mismatch != kNoMismatch) {
    verified.firstMismatch = static_cast<double>(result.first_mismatch);
  }
  return fact(failure, verified);
}

Fact<Timing> Allocator::free(CallContext& context, int id) {
  const Fact<Block*> found = find(context, id, "freeBlock");
  if (const Failure* failure = failure_of(found)) return *failure;
  Block& block = *std::get<Block*>(found);
  const auto start = Clock::now();
  if (auto failure = block.free(context)) return std::move(*failure);
  const Timing timing{milliseconds_since(start)};
  count(-1, -static_cast<double>(block.bytes()));
  blocks_->erase(id);
  return timing;
}

Fact<Freed> Allocator::free_all(CallContext& context) {
  if (blocks_->empty()) return Freed{};
  if (auto failure = make_current(context)) return std::move(*failure);
  Freed freed;
  std::optional<Failure> first;
  const auto start = Clock::now();
  for (auto at = blocks_->begin(); at != blocks_->end();) {
    const auto bytes = static_cast<double>(at->second.bytes());
    if (auto failure = at->second.free(context)) {
      if (!first) first = std::move(failure);
      ++at;
      continue;
    }
    at = blocks_->erase(at);
    count(-1, -bytes);
    freed.blocks++;
    freed.bytes += bytes;
  }
  freed.durationMs = milliseconds_since(start);
  return fact(first, freed);
}

void Allocator::close() {
  if (!report_) return;
  CallContext unwatched(/*watched=*/false);
  make_current(unwatched);
  free_all(unwatched);
  kernels_.unload(unwatched);
  report_.reset();
}

Fact<std::string> Allocator::load_kernels(CallContext& context, int processors) {
  if (!api_.driver) return cuda_.driver_failure();
  auto failure = kernels_.load(context, *api_.driver, processors);
  return fact(failure, std::string("kernel"));
}

std::optional<Failure> Allocator::make_current(CallContext& context) {
  if (api_.runtime)
    return call_always(context, *api_.runtime, api_.runtime->cudaSetDevice, api_.device);
  return call_always(context, *api_.driver, api_.driver->cuCtxSetCurrent, primary_context_);
}

Fact<Block*> Allocator::find(CallContext& context, int block, const char* call) {
  if (!report_) return not_open(call);
  const auto found = blocks_->find(block);
  if (found == blocks_->end()) {
    return allocator_failure(call, "UNKNOWN_BLOCK",
                             "block " + std::to_string(block) + " was freed, or never allocated");
  }
  if (auto failure = make_current(context)) return std::move(*failure);
  return &found->second;
}

std::optional<Failure> Allocator::fill(CallContext& context, void* address, uint64_t bytes,
                                       uint64_t seed, uint64_t offset) {
  if (kernels_.loaded()) return kernels_.fill(context, address, bytes, seed, offset);
  return fill_with_memset(context, address, bytes, seed);
}

std::optional<Failure> Allocator::fill_with_memset(CallContext& context, void* address,
                                                   uint64_t bytes, uint64_t seed) {
  const auto value = static_cast<unsigned char>(seed);
  if (const Cudart* runtime = api_.runtime) {
    auto failure = call(context, *runtime, runtime->cudaMemset, address, int{value}, size_t{bytes});
    return failure ? failure : call(context, *runtime, runtime->cudaDeviceSynchronize);
  }
  auto failure = call(context, *api_.driver, api_.driver->cuMemsetD8_v2,
                      CUdeviceptr{reinterpret_cast<uintptr_t>(address)}, value, size_t{bytes});
  return failure ? failure : call(context, *api_.driver, api_.driver->cuCtxSynchronize);
}

void Allocator::count(int blocks, double bytes) {
  live_.update([&](auto& live) {
    live.first += blocks;
    live.second += bytes;
  });
}

}  // namespace umaprobe

#include "alloc.h"

#include <cerrno>
#include <cmath>

#include "memgetinfo.h"
#include "slices.h"

namespace umaprobe {
namespace {

constexpr double kLargestInteger = 9007199254740991;  // 2^53 - 1, as JavaScript counts

Failure refusal(const char* call, const char* name, const std::string& message) {
  return {"umaprobe", call, std::nullopt, name, message};
}

std::optional<Failure> refuse_size(double bytes) {
  if (bytes >= 1 && bytes <= kLargestInteger && std::floor(bytes) == bytes) return std::nullopt;
  return Failure{"umaprobe", "allocBlock", EINVAL, "EINVAL",
                 "a size is a whole number of bytes from 1 to 2^53 - 1"};
}

// The runtime's functions need no more than this; CUDA 12's cudaSetDevice makes the context by
// itself, CUDA 11's does not.
std::optional<Failure> create_context(Flight& flight, const Cudart& runtime, int device) {
  auto failure = ask(flight, runtime, runtime.cudaSetDevice, device);
  if (!failure && runtime.cudaFree) {
    failure = ask(flight, runtime, runtime.cudaFree, static_cast<void*>(nullptr));
  }
  return failure;
}

// Retained once and never released, as the runtime does: another user of this process may have made
// it current.
std::optional<Failure> retain_context(Flight& flight, const CudaDriver& driver, int ordinal,
                                      CUcontext* context) {
  CUdevice device = 0;
  auto failure = ask(flight, driver, driver.cuDeviceGet, &device, ordinal);
  if (!failure) failure = ask(flight, driver, driver.cuDevicePrimaryCtxRetain, context, device);
  return failure;
}

}  // namespace

Allocator::~Allocator() {
  if (!blocks_->empty()) static_cast<void>(blocks_.release());
}

Fact<AllocatorReport> Allocator::open(Flight& flight, const LibraryPaths& paths, int device) {
  if (report_) {
    if (device == with_.device) return *report_;
    return Failure{"umaprobe", "allocOpen", EBUSY, "EBUSY",
                   "this allocator is on device " + std::to_string(with_.device)};
  }
  const auto start = Clock::now();
  cuda_.connect_runtime(flight, paths);
  cuda_.connect_driver(flight, paths);
  if (!cuda_.usable()) return std::get<Failure>(cuda_.device_count());
  if (!kernel_) kernel_ = open_kernel(paths);
  with_ = {cuda_.runtime(), cuda_.driver(), kernel_.get(), device};
  // Whether there is such a device is said before a context is made.
  const Fact<int> processors = device_attribute(flight, with_, kAttrMultiProcessorCount);
  if (const Failure* failure = failure_of(processors)) return *failure;

  AllocatorReport report;
  for (size_t i = 0; i < kKindCount; ++i) {
    report.kinds.calls[i] = kKinds[i].supported(flight, with_);
  }
  if (!with_.runtime && !context_) {
    if (auto failure = retain_context(flight, *with_.driver, device, &context_)) return *failure;
  }
  auto failure =
      with_.runtime ? create_context(flight, *with_.runtime, device) : make_current(flight);
  if (failure) return std::move(*failure);
  report.kernel = refusal("cuModuleLoadData", "NOT_SUPPORTED", "no kernels yet");
  report.memGetInfo = mem_get_info(flight, cuda_, device, Thread::kOurs);
  report.durationMs = milliseconds_since(start);
  if (flight.abandoned()) return refusal("allocOpen", "ABANDONED", "the deadline has passed");
  report_ = report;
  return report;
}

Fact<Allocated> Allocator::alloc(Flight& flight, const std::string& name, double bytes) {
  if (auto failure = enter(flight, "allocBlock")) return std::move(*failure);
  if (auto failure = refuse_size(bytes)) return std::move(*failure);
  const Kind* kind = find_kind(name);
  if (!kind) {
    return Failure{"umaprobe", "allocBlock", EINVAL, "EINVAL",
                   "no kind of memory is called " + name};
  }
  const Fact<std::string>& call = *report_->kinds.calls[static_cast<size_t>(kind - kKinds)];
  if (const Failure* failure = failure_of(call)) return *failure;

  const Brake::Work work(brake_);
  if (brake_.stopped()) return stopped_failure("allocBlock");
  void* address = nullptr;
  const auto size = static_cast<size_t>(bytes);
  const auto start = Clock::now();
  auto failure = kind->alloc(flight, with_, size, &address);
  const double duration_ms = milliseconds_since(start);
  if (failure) return std::move(*failure);

  Block block(*kind, with_, address, size);
  // Nobody will hear of a block that came too late. Back at once, under the watchdog's eyes.
  if (flight.abandoned() || brake_.stopped()) {
    if (auto kept = block.free(flight)) return std::move(*kept);
    return brake_.stopped() ? stopped_failure("allocBlock")
                            : refusal("allocBlock", "ABANDONED", "the deadline has passed");
  }
  blocks_->emplace(++last_block_, std::move(block));
  count(1, bytes);
  return Allocated{last_block_, duration_ms};
}

Fact<Took> Allocator::touch(Flight& flight, int id, double seed) {
  if (auto failure = enter(flight, "touchBlock")) return std::move(*failure);
  const Fact<Block*> found = find(id, "touchBlock");
  if (const Failure* failure = failure_of(found)) return *failure;
  const Block& block = *std::get<Block*>(found);

  const Brake::Work work(brake_);
  const auto start = Clock::now();
  auto failure = in_slices(block.bytes(), [&](uint64_t offset, uint64_t bytes) {
    if (brake_.stopped()) return std::optional<Failure>(stopped_failure("touchBlock"));
    return fill(flight, block, offset, bytes, static_cast<uint64_t>(seed));
  });
  return fact(failure, Took{milliseconds_since(start)});
}

Fact<Took> Allocator::free(Flight& flight, int id) {
  if (auto failure = enter(flight, "freeBlock")) return std::move(*failure);
  const Fact<Block*> found = find(id, "freeBlock");
  if (const Failure* failure = failure_of(found)) return *failure;
  Block& block = *std::get<Block*>(found);
  const auto start = Clock::now();
  if (auto failure = block.free(flight)) return std::move(*failure);
  const Took took{milliseconds_since(start)};
  count(-1, -static_cast<double>(block.bytes()));
  blocks_->erase(id);
  return took;
}

Fact<Freed> Allocator::free_all(Flight& flight) {
  if (blocks_->empty()) return Freed{};
  if (auto failure = make_current(flight)) return std::move(*failure);
  Freed freed;
  std::optional<Failure> first;
  const auto start = Clock::now();
  for (auto at = blocks_->begin(); at != blocks_->end();) {
    const auto bytes = static_cast<double>(at->second.bytes());
    if (auto failure = at->second.free(flight)) {
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
  Flight unwatched(/*watched=*/false);
  free_all(unwatched);
}

std::optional<Failure> Allocator::enter(Flight& flight, const char* call) {
  if (!report_) return refusal(call, "NOT_OPEN", "there is no allocator: call allocOpen first");
  return make_current(flight);
}

std::optional<Failure> Allocator::make_current(Flight& flight) {
  if (with_.runtime)
    return ask_late(flight, *with_.runtime, with_.runtime->cudaSetDevice, with_.device);
  return ask_late(flight, *with_.driver, with_.driver->cuCtxSetCurrent, context_);
}

Fact<Block*> Allocator::find(int block, const char* call) {
  const auto found = blocks_->find(block);
  if (found != blocks_->end()) return &found->second;
  return refusal(call, "UNKNOWN_BLOCK",
                 "block " + std::to_string(block) + " was freed, or never allocated");
}

std::optional<Failure> Allocator::wait_for_device(Flight& flight) {
  if (with_.driver) return ask(flight, *with_.driver, with_.driver->cuCtxSynchronize);
  return ask(flight, *with_.runtime, with_.runtime->cudaDeviceSynchronize);
}

std::optional<Failure> Allocator::fill(Flight& flight, const Block& block, uint64_t offset,
                                       uint64_t bytes, uint64_t seed) {
  auto* address = static_cast<unsigned char*>(block.address()) + offset;
  const auto value = static_cast<unsigned char>(seed);
  std::optional<Failure> failure;
  if (with_.runtime) {
    failure = ask(flight, *with_.runtime, with_.runtime->cudaMemset, static_cast<void*>(address),
                  int{value}, static_cast<size_t>(bytes));
  } else {
    failure =
        ask(flight, *with_.driver, with_.driver->cuMemsetD8_v2,
            CUdeviceptr{reinterpret_cast<uintptr_t>(address)}, value, static_cast<size_t>(bytes));
  }
  return failure ? failure : wait_for_device(flight);
}

void Allocator::count(int blocks, double bytes) {
  live_.update([&](auto& live) {
    live.first += blocks;
    live.second += bytes;
  });
}

}  // namespace umaprobe

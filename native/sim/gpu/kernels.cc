#include "sim/gpu/kernels.h"

#include <algorithm>

#include "abi/cuda.h"
#include "abi/pattern.h"
#include "sim/gpu/address_map.h"
#include "sim/gpu/backing.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_queue.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

// The context returns these statuses from then on, as on a real device.
constexpr int kIllegalAddress = 700, kMisaligned = 716;
// Smaller fills are written, which costs as little as recording them.
constexpr uint64_t kLeastRecorded = 1ull << 20;

struct Arguments {
  uint64_t base, bytes, seed, first, result;
};

char* pointer(uint64_t address) { return reinterpret_cast<char*>(static_cast<uintptr_t>(address)); }

bool reaches(const Call& call, int device, uint64_t address, uint64_t bytes) {
  Session& session = call.session();
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto allocation = find_range(session, pointer(address), bytes);
  return allocation != session.allocations.end() &&
         device_reaches(call.state().machine, device, allocation->second);
}

// Returns whether a scripted corruption hits this fill, and the offset of the wrong byte.
bool corrupted(State& state, const Arguments& arguments, uint64_t* offset) {
  const Locked locked(state);
  bool hit = false;
  for (int i = 0; i < state.machine.corrupt_count; i++) {
    const Corruption& fault = state.machine.corruptions[i];
    if (fault.offset < arguments.first || fault.offset - arguments.first >= arguments.bytes) {
      continue;
    }
    const uint64_t earlier = state.corrupt_fills[i]++;
    if (earlier < fault.after || earlier - fault.after >= fault.times) continue;
    *offset = fault.offset;
    hit = true;
  }
  return hit;
}

void write_byte(Session& session, uint64_t address, uint8_t value) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto allocation = find_allocation(session, pointer(address));
  if (allocation == session.allocations.end()) return;
  const uint64_t offset = offset_in(allocation, pointer(address));
  forget_fill(allocation->second.fills, offset, offset + 1);
  *pointer(address) = static_cast<char>(value);
}

void fill(const Call& call, const Arguments& arguments) {
  Session& session = call.session();
  char* const to = pointer(arguments.base);
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = find_range(session, to, arguments.bytes);
    if (allocation == session.allocations.end()) return;
    const uint64_t offset = offset_in(allocation, to);
    // Registered memory belongs to the program, so nothing can be mapped over it.
    if (arguments.bytes < kLeastRecorded || allocation->second.kind == BlockKind::kRegistered) {
      forget_fill(allocation->second.fills, offset, offset + arguments.bytes);
      write_pattern(to, arguments.bytes, arguments.seed, arguments.first);
    } else {
      fill_backing(to, arguments.bytes, 0);
      remember_fill(allocation->second.fills, offset,
                    {offset + arguments.bytes, arguments.seed, arguments.first});
    }
  }
  uint64_t offset;
  if (corrupted(call.state(), arguments, &offset)) {
    write_byte(session, arguments.base + (offset - arguments.first),
               static_cast<uint8_t>(~umaprobe::pattern_byte(arguments.seed, offset)));
  }
}

void verify(const Call& call, const Arguments& arguments) {
  Session& session = call.session();
  std::vector<Segment> segments;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = find_range(session, pointer(arguments.base), arguments.bytes);
    if (allocation == session.allocations.end()) return;
    const uint64_t offset = offset_in(allocation, pointer(arguments.base));
    segments = split_segments(allocation->second.fills, pointer(arguments.base) - offset, offset,
                              arguments.bytes);
  }
  const Mismatches found = compare(segments, arguments.seed, arguments.first);
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto allocation =
      find_range(session, pointer(arguments.result), sizeof(umaprobe::VerifyResult));
  if (allocation == session.allocations.end()) return;
  auto* result = reinterpret_cast<umaprobe::VerifyResult*>(pointer(arguments.result));
  result->mismatches += found.bytes;
  result->first_mismatch = std::min(result->first_mismatch, found.first);
}

bool within(unsigned int value, unsigned int most) { return value > 0 && value <= most; }

}  // namespace

bool is_grid(const Dimensions& grid) {
  return within(grid.x, 0x7fffffff) && within(grid.y, 65535) && within(grid.z, 65535);
}

bool is_block(const Dimensions& block) {
  return within(block.x, 1024) && within(block.y, 1024) && within(block.z, 64) &&
         block.x * block.y * block.z <= 1024;
}

int run_kernel(const Call& call, int device, const KernelFunction& function, void** parameters) {
  const bool fills = function.name == umaprobe::kFillKernel && function.u64_parameters == 4;
  const bool verifies = function.name == umaprobe::kVerifyKernel && function.u64_parameters == 5;
  if (!fills && !verifies) return umaprobe::kCudaNotSupported;
  uint64_t values[5] = {};
  for (int i = 0; i < function.u64_parameters; i++) {
    if (parameters[i] == nullptr) return umaprobe::kCudaInvalidValue;
    values[i] = *static_cast<const uint64_t*>(parameters[i]);
  }
  const Arguments arguments{values[0], values[1], values[2], values[3], values[4]};
  if (arguments.bytes == 0) return 0;
  constexpr uint64_t kResult = sizeof(umaprobe::VerifyResult);
  std::atomic<int>& faulted = call.session().faulted[device];
  if (verifies && arguments.result % 8 != 0) faulted = kMisaligned;
  if (!reaches(call, device, arguments.base, arguments.bytes) ||
      (verifies && !reaches(call, device, arguments.result, kResult))) {
    faulted = kIllegalAddress;
  }
  if (faulted != 0) return 0;  // the launch succeeds; the next call returns the error

  const double start_ms = ready_at(call, device);
  double ms = 0;
  int status = memory_touch(call, pointer(arguments.base), arguments.bytes, &ms);
  if (status == 0 && verifies) status = memory_touch(call, pointer(arguments.result), kResult, &ms);
  if (status != 0) return status;
  enqueue(call, device, start_ms, ms + transfer_ms(call, pointer(arguments.base), arguments.bytes));
  if (fills) {
    fill(call, arguments);
  } else {
    verify(call, arguments);
  }
  return 0;
}

}  // namespace umasim

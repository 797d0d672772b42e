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

// What the context answers from then on, as on a real device.
constexpr int kIllegalAddress = 700, kMisaligned = 716;
// Below this the pattern is written: it costs as little as remembering it.
constexpr uint64_t kWorthRemembering = 1ull << 20;

struct Arguments {
  uint64_t base, bytes, seed, first, result;
};

char* pointer(uint64_t address) { return reinterpret_cast<char*>(static_cast<uintptr_t>(address)); }

bool reaches(const Call& call, int device, uint64_t address, uint64_t bytes) {
  Session& session = call.session();
  const std::lock_guard<std::mutex> guard(session.lock);
  const BlockAt block = find_range(session, pointer(address), bytes);
  return block != session.blocks.end() &&
         device_reaches(call.state().machine, device, block->second);
}

// The scripted corruption that hits this fill: an offset that it covers, or none.
bool corrupted(State& state, const Arguments& of, uint64_t* offset) {
  const Locked locked(state);
  bool hit = false;
  for (int i = 0; i < state.machine.corrupt_count; i++) {
    const Corruption& fault = state.machine.corruptions[i];
    if (fault.offset < of.first || fault.offset - of.first >= of.bytes) continue;
    const uint64_t earlier = state.corrupt_fills[i]++;
    if (earlier < fault.after || earlier - fault.after >= fault.times) continue;
    *offset = fault.offset;
    hit = true;
  }
  return hit;
}

void write_byte(Session& session, uint64_t address, uint8_t value) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const BlockAt block = find_block(session, pointer(address));
  if (block == session.blocks.end()) return;
  const uint64_t offset = offset_in(block, pointer(address));
  forget_fill(block->second.fills, offset, offset + 1);
  *pointer(address) = static_cast<char>(value);
}

void fill(const Call& call, const Arguments& of) {
  Session& session = call.session();
  char* const to = pointer(of.base);
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const BlockAt block = find_range(session, to, of.bytes);
    if (block == session.blocks.end()) return;
    const uint64_t offset = offset_in(block, to);
    // Registered memory is the program's own: nothing can be mapped over it.
    if (of.bytes < kWorthRemembering || block->second.kind == Kind::kRegistered) {
      forget_fill(block->second.fills, offset, offset + of.bytes);
      write_fill(to, of.bytes, of.seed, of.first);
    } else {
      fill_content(to, of.bytes, 0);
      remember_fill(block->second.fills, offset, {offset + of.bytes, of.seed, of.first});
    }
  }
  uint64_t offset;
  if (corrupted(call.state(), of, &offset)) {
    write_byte(session, of.base + (offset - of.first),
               static_cast<uint8_t>(~umaprobe::pattern_byte(of.seed, offset)));
  }
}

void verify(const Call& call, const Arguments& of) {
  Session& session = call.session();
  std::vector<Segment> segments;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const BlockAt block = find_range(session, pointer(of.base), of.bytes);
    if (block == session.blocks.end()) return;
    const uint64_t offset = offset_in(block, pointer(of.base));
    segments = segments_of(block->second.fills, pointer(of.base) - offset, offset, of.bytes);
  }
  const Mismatches found = compare(segments, of.seed, of.first);
  const std::lock_guard<std::mutex> guard(session.lock);
  const BlockAt block = find_range(session, pointer(of.result), sizeof(umaprobe::VerifyResult));
  if (block == session.blocks.end()) return;
  auto* result = reinterpret_cast<umaprobe::VerifyResult*>(pointer(of.result));
  result->mismatches += found.bytes;
  result->first_mismatch = std::min(result->first_mismatch, found.first);
}

}  // namespace

int run_kernel(const Call& call, int device, const Function& function, void** parameters) {
  const bool fills = function.name == umaprobe::kFillKernel && function.words == 4;
  const bool verifies = function.name == umaprobe::kVerifyKernel && function.words == 5;
  if (!fills && !verifies) return umaprobe::kCudaNotSupported;
  uint64_t values[5] = {};
  for (int i = 0; i < function.words; i++) {
    if (parameters[i] == nullptr) return umaprobe::kCudaInvalidValue;
    values[i] = *static_cast<const uint64_t*>(parameters[i]);
  }
  const Arguments of{values[0], values[1], values[2], values[3], values[4]};
  if (of.bytes == 0) return 0;
  constexpr uint64_t kResult = sizeof(umaprobe::VerifyResult);
  std::atomic<int>& faulted = call.session().faulted[device];
  if (verifies && of.result % 8 != 0) faulted = kMisaligned;
  if (!reaches(call, device, of.base, of.bytes) ||
      (verifies && !reaches(call, device, of.result, kResult))) {
    faulted = kIllegalAddress;
  }
  if (faulted != 0) return 0;  // a launch does not know yet; whoever comes next is told

  const double begun = work_begins_at(call, device);
  double ms = 0;
  int status = memory_touch(call, pointer(of.base), of.bytes, &ms);
  if (status == 0 && verifies) status = memory_touch(call, pointer(of.result), kResult, &ms);
  if (status != 0) return status;
  add_work(call, device, begun, ms + moving_ms(call, pointer(of.base), of.bytes));
  fills ? fill(call, of) : verify(call, of);
  return 0;
}

}  // namespace umasim

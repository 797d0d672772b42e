#include "sim/gpu/cuda_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "abi/cuda.h"
#include "sim/gpu/address_map.h"
#include "sim/gpu/backing.h"
#include "sim/gpu/device_queue.h"
#include "sim/gpu/reserve.h"
#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"

namespace umasim {
namespace {

using umaprobe::kCudaInvalidValue;
using umaprobe::kCudaOutOfMemory;

// Adds [begin, end) to the touched ranges. Returns how many of its bytes were untouched.
uint64_t add_range(std::map<uint64_t, uint64_t>& ranges, uint64_t begin, uint64_t end) {
  uint64_t fresh = end - begin;
  auto at = ranges.upper_bound(begin);
  if (at != ranges.begin() && std::prev(at)->second >= begin) --at;
  while (at != ranges.end() && at->first <= end) {
    const uint64_t from = std::max(at->first, begin), to = std::min(at->second, end);
    if (to > from) fresh -= to - from;
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = ranges.erase(at);
  }
  ranges[begin] = end;
  return fresh;
}

struct Touched {
  uint64_t fresh;  // bytes that had no memory yet
  int id;          // their block
};

// Marks a range of a lazy allocation as touched. No byte outside of one is fresh.
Touched touch_range(Session& session, const void* address, uint64_t bytes) {
  const uint64_t page = session.state->machine.linux_kernel.page_size;
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto allocation = find_allocation(session, address);
  if (allocation == session.allocations.end() || !is_lazy(allocation->second)) return {0, -1};
  const uint64_t offset = offset_in(allocation, address);
  const uint64_t size = (allocation->second.size + page - 1) / page * page;
  const uint64_t end = std::min((offset + bytes + page - 1) / page * page, size);
  return {add_range(allocation->second.touched, offset / page * page, end), allocation->second.id};
}

// The share of a block that spilled from dedicated device memory to host memory.
double spilled_share(State& state, BlockKind kind, int id, int device) {
  if (kind != BlockKind::kDevice && kind != BlockKind::kManaged) return 0;
  const Locked locked(state);
  if (state.machine.devices[device].shares_host_memory) return 0;
  const Block& block = state.blocks[id];
  const double all = static_cast<double>(block.host_bytes + block.device_bytes);
  return all > 0 ? static_cast<double>(block.host_bytes) / all : 0;
}

}  // namespace

int memory_allocate(const Call& call, BlockKind kind, int device, uint64_t bytes, void** address) {
  Session& session = call.session();
  *address = nullptr;
  if (bytes == 0) return kind == BlockKind::kManaged ? kCudaInvalidValue : 0;
  void* const mapped = map_backing(bytes);
  if (mapped == nullptr) return kCudaOutOfMemory;
  int id;
  const int status = reserve(call, kind, device, bytes, &id);
  if (status != 0) {
    unmap_backing(mapped, bytes);
    return status;
  }
  const std::lock_guard<std::mutex> guard(session.lock);
  session.allocations[reinterpret_cast<uintptr_t>(mapped)] = {bytes, kind, device, id, {}, {}};
  *address = mapped;
  return 0;
}

int memory_free(const Call& call, void* address, BlockKind kind, BlockKind other) {
  if (address == nullptr) return 0;
  Session& session = call.session();
  int id;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = session.allocations.find(reinterpret_cast<uintptr_t>(address));
    if (allocation == session.allocations.end()) return kCudaInvalidValue;
    if (allocation->second.kind != kind && allocation->second.kind != other) {
      return kCudaInvalidValue;
    }
    id = allocation->second.id;
    if (allocation->second.kind != BlockKind::kRegistered) {
      unmap_backing(address, allocation->second.size);
    }
    session.allocations.erase(allocation);
  }
  release(call, id);
  return 0;
}

int memory_register(const Call& call, int device, void* address, uint64_t bytes) {
  constexpr int kAlreadyRegistered = 712;
  if (address == nullptr || bytes == 0) return kCudaInvalidValue;
  Session& session = call.session();
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    if (find_allocation(session, address) != session.allocations.end()) return kAlreadyRegistered;
  }
  int id;
  const int status = reserve(call, BlockKind::kRegistered, device, bytes, &id);
  if (status != 0) return status;
  const std::lock_guard<std::mutex> guard(session.lock);
  session.allocations[reinterpret_cast<uintptr_t>(address)] = {
      bytes, BlockKind::kRegistered, device, id, {}, {}};
  return 0;
}

int memory_touch(const Call& call, const void* address, uint64_t bytes, double* ms) {
  const Touched touched = touch_range(call.session(), address, bytes);
  if (touched.fresh == 0) return 0;
  double touched_ms = 0;
  const int status = reserve_touched(call, touched.id, touched.fresh, &touched_ms);
  *ms += touched_ms;
  return status;
}

int memory_fill(const Call& call, int device, void* address, uint64_t bytes, uint32_t pattern) {
  if (bytes == 0) return 0;
  Session& session = call.session();
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = find_range(session, address, bytes);
    if (allocation == session.allocations.end()) return kCudaInvalidValue;
    if (!device_reaches(call.state().machine, device, allocation->second)) return kCudaInvalidValue;
    const uint64_t offset = offset_in(allocation, address);
    forget_fill(allocation->second.fills, offset, offset + bytes);
  }
  const double start_ms = ready_at(call, device);
  double ms = 0;
  const int status = memory_touch(call, address, bytes, &ms);
  if (status != 0) return status;
  enqueue(call, device, start_ms, ms + transfer_ms(call, address, bytes));
  fill_backing(address, bytes, pattern);
  return 0;
}

namespace {

// The contents of one side of a copy. Memory outside all allocations belongs to the program.
// Returns false if the range exceeds its allocation.
bool segments_for_copy(Session& session, const void* address, uint64_t bytes, bool written,
                       std::vector<Segment>* segments) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto allocation = find_allocation(session, address);
  const char* const at = static_cast<const char*>(address);
  if (allocation == session.allocations.end()) {
    *segments = {{at, bytes, false, 0, 0}};
    return true;
  }
  if (find_range(session, address, bytes) == session.allocations.end()) return false;
  const uint64_t offset = offset_in(allocation, address);
  if (written) forget_fill(allocation->second.fills, offset, offset + bytes);
  *segments = split_segments(allocation->second.fills, at - offset, offset, bytes);
  return true;
}

}  // namespace

int memory_copy(const Call& call, int device, void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) return 0;
  Session& session = call.session();
  std::vector<Segment> source, target;
  if (to == nullptr || from == nullptr ||
      !segments_for_copy(session, from, bytes, false, &source) ||
      !segments_for_copy(session, to, bytes, true, &target)) {
    return kCudaInvalidValue;
  }
  const double start_ms = ready_at(call, device);
  double ms = 0;
  int status = memory_touch(call, to, bytes, &ms);
  if (status == 0) status = memory_touch(call, from, bytes, &ms);
  if (status != 0) return status;
  enqueue(call, device, start_ms,
          ms + transfer_ms(call, from, bytes) + transfer_ms(call, to, bytes));
  if (source.size() == 1 && !source[0].filled) {
    std::memmove(to, from, bytes);
    return 0;
  }
  char* at = static_cast<char*>(to);
  for (const Segment& segment : source) {
    read_segment(segment, 0, segment.size, at);
    at += segment.size;
  }
  return 0;
}

int memory_prefetch(const Call& call, int device, const void* address, uint64_t bytes) {
  const double start_ms = ready_at(call, device);
  double ms = 0;
  const int status = memory_touch(call, address, bytes, &ms);
  if (status == 0) enqueue(call, device, start_ms, ms);
  return status;
}

double transfer_ms(const Call& call, const void* address, uint64_t bytes) {
  State& state = call.state();
  const Timing& timing = state.machine.timing;
  Session& session = call.session();
  BlockKind kind = BlockKind::kDevice;
  int id = -1, device = 0;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = find_allocation(session, address);
    if (allocation != session.allocations.end()) {
      kind = allocation->second.kind;
      id = allocation->second.id;
      device = allocation->second.device;
    }
  }
  const double gbps =
      kind == BlockKind::kSystem ? timing.system_bandwidth_gbps : timing.bandwidth_gbps;
  const double moved = static_cast<double>(bytes);
  const double spilled = id < 0 ? 0 : spilled_share(state, kind, id, device);
  // The device reads spilled memory over the link every time.
  return moved / (gbps * 1e6) + moved * spilled / kGiB * timing.spill;
}

uint64_t device_total(const State& state, int device) {
  const Device& facts = state.machine.devices[device];
  if (!facts.shares_host_memory) return facts.memory - facts.reserved;
  return std::min(facts.cuda_total, state.machine.memory.total / 1024 * 1024);
}

void memory_info(State& state, int device, size_t* free, size_t* total) {
  const Locked locked(state);
  const Device& facts = state.machine.devices[device];
  *total = device_total(state, device);
  if (!facts.shares_host_memory) {
    *free = saturating_sub(*total, state.world.gpu_device[device]);
    return;
  }
  // The free memory is MemFree, without page cache and pools. Allocations count against CUDA's
  // total if that is less than MemTotal (assumed: no such device has been read on Linux).
  *free = std::min(free_bytes(state), saturating_sub(*total, state.world.gpu_host));
}

void* system_map(Session& session, uint64_t bytes) {
  if (bytes == 0) {
    errno = EINVAL;
    return nullptr;
  }
  void* const mapped = map_backing(bytes);
  if (mapped == nullptr) return nullptr;
  State& state = *session.state;
  int id;
  {
    const Locked locked(state);
    id = new_block(state, client_of_this_process(state), BlockKind::kSystem, 0, bytes);
  }
  if (id < 0) {
    unmap_backing(mapped, bytes);
    errno = ENOMEM;
    return nullptr;
  }
  const std::lock_guard<std::mutex> guard(session.lock);
  session.allocations[reinterpret_cast<uintptr_t>(mapped)] = {bytes, BlockKind::kSystem, 0, id, {},
                                                              {}};
  return mapped;
}

int system_touch(Session& session, void* address, uint64_t bytes) {
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = find_range(session, address, bytes);
    if (bytes == 0 || allocation == session.allocations.end() ||
        allocation->second.kind != BlockKind::kSystem) {
      return -EINVAL;
    }
  }
  const Touched touched = touch_range(session, address, bytes);
  if (touched.fresh == 0) return 0;
  const int status = reserve_written(*session.state, session.pid, touched.id, touched.fresh);
  return status == 0 ? 0 : -ENOMEM;
}

void system_unmap(Session& session, void* address, uint64_t bytes) {
  int id;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto allocation = session.allocations.find(reinterpret_cast<uintptr_t>(address));
    if (allocation == session.allocations.end() || allocation->second.kind != BlockKind::kSystem) {
      return;
    }
    if (allocation->second.size != bytes) return;
    id = allocation->second.id;
    unmap_backing(address, bytes);
    session.allocations.erase(allocation);
  }
  State& state = *session.state;
  const Locked locked(state);
  free_block(state, id, Freeing::kByCall);
}

}  // namespace umasim

#include "memory.h"

#include <algorithm>
#include <cstring>

#include "allocation.h"
#include "content.h"
#include "cuda_abi.h"
#include "world.h"

namespace umasim {
namespace {

using umaprobe::kCudaInvalidValue;
using umaprobe::kCudaOutOfMemory;

// The allocation that the address is in; end() when it is in none. Under the session's lock.
std::map<uintptr_t, LocalBlock>::iterator find(Session& session, const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  auto block = session.blocks.upper_bound(at);
  if (block == session.blocks.begin()) return session.blocks.end();
  --block;
  return at - block->first < block->second.size ? block : session.blocks.end();
}

// Whether a range that begins in an allocation also ends in it. Other memory is the caller's own.
bool in_bounds(Session& session, const void* address, uint64_t bytes) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto block = find(session, address);
  if (block == session.blocks.end()) return true;
  return bytes <= block->second.size - (reinterpret_cast<uintptr_t>(address) - block->first);
}

bool known(Session& session, const void* address) {
  const std::lock_guard<std::mutex> guard(session.lock);
  return find(session, address) != session.blocks.end();
}

// Adds [begin, end) to the touched ranges; the bytes of it that were not there.
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

}  // namespace

int memory_allocate(const Call& call, Kind kind, int device, uint64_t bytes, void** address) {
  Session& session = call.session();
  *address = nullptr;
  if (bytes == 0) return kind == Kind::kManaged ? kCudaInvalidValue : 0;
  void* const mapped = map_content(bytes);
  if (mapped == nullptr) return kCudaOutOfMemory;
  int id;
  const int status = allocate(call, kind, device, bytes, &id);
  if (status != 0) {
    unmap_content(mapped, bytes);
    return status;
  }
  const std::lock_guard<std::mutex> guard(session.lock);
  session.blocks[reinterpret_cast<uintptr_t>(mapped)] = {bytes, kind, device, id, {}};
  *address = mapped;
  return 0;
}

int memory_free(const Call& call, void* address, Kind kind, Kind other) {
  if (address == nullptr) return 0;
  Session& session = call.session();
  int id;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto block = session.blocks.find(reinterpret_cast<uintptr_t>(address));
    if (block == session.blocks.end()) return kCudaInvalidValue;
    if (block->second.kind != kind && block->second.kind != other) return kCudaInvalidValue;
    id = block->second.id;
    if (block->second.kind != Kind::kRegistered) unmap_content(address, block->second.size);
    session.blocks.erase(block);
  }
  release(call, id);
  return 0;
}

int memory_register(const Call& call, int device, void* address, uint64_t bytes) {
  constexpr int kAlreadyRegistered = 712;
  if (address == nullptr || bytes == 0) return kCudaInvalidValue;
  Session& session = call.session();
  if (known(session, address)) return kAlreadyRegistered;
  int id;
  const int status = allocate(call, Kind::kRegistered, device, bytes, &id);
  if (status != 0) return status;
  const std::lock_guard<std::mutex> guard(session.lock);
  session.blocks[reinterpret_cast<uintptr_t>(address)] = {bytes, Kind::kRegistered, device, id, {}};
  return 0;
}

int memory_touch(const Call& call, const void* address, uint64_t bytes, double* ms) {
  Session& session = call.session();
  const uint64_t page = call.state().machine.kernel.page_size;
  uint64_t fresh = 0;
  int id = -1;
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto block = find(session, address);
    if (block == session.blocks.end() || block->second.kind != Kind::kManaged) return 0;
    const uint64_t offset = reinterpret_cast<uintptr_t>(address) - block->first;
    const uint64_t size = (block->second.size + page - 1) / page * page;
    const uint64_t end = std::min((offset + bytes + page - 1) / page * page, size);
    fresh = add_range(block->second.touched, offset / page * page, end);
    id = block->second.id;
  }
  if (fresh == 0) return 0;
  double touched_ms = 0;
  const int status = touch(call, id, fresh, &touched_ms);
  *ms += touched_ms;
  return status;
}

int memory_fill(const Call& call, int device, void* address, uint64_t bytes, uint32_t pattern) {
  if (bytes == 0) return 0;
  Session& session = call.session();
  if (!known(session, address) || !in_bounds(session, address, bytes)) return kCudaInvalidValue;
  double touch_ms = 0;
  const int status = memory_touch(call, address, bytes, &touch_ms);
  if (status != 0) return status;
  begin_work(call, device, static_cast<double>(bytes), touch_ms);
  fill_content(address, bytes, pattern);
  return 0;
}

int memory_copy(const Call& call, int device, void* to, const void* from, uint64_t bytes) {
  if (bytes == 0) return 0;
  Session& session = call.session();
  if (to == nullptr || from == nullptr || !in_bounds(session, to, bytes) ||
      !in_bounds(session, from, bytes)) {
    return kCudaInvalidValue;
  }
  double touch_ms = 0;
  int status = memory_touch(call, to, bytes, &touch_ms);
  if (status == 0) status = memory_touch(call, from, bytes, &touch_ms);
  if (status != 0) return status;
  // Read and written.
  begin_work(call, device, 2 * static_cast<double>(bytes), touch_ms);
  std::memmove(to, from, bytes);
  return 0;
}

uint64_t device_total(const State& state, int device) {
  const Device& facts = state.machine.devices[device];
  if (!facts.shares_host_memory) return facts.memory - facts.reserved;
  return state.machine.memory.total / 1024 * 1024;
}

void memory_info(State& state, int device, size_t* free, size_t* total) {
  const Locked locked(state);
  const Device& facts = state.machine.devices[device];
  *total = device_total(state, device);
  // On shared memory this is MemFree itself, page cache and pools left out.
  *free =
      facts.shares_host_memory ? free_bytes(state) : less(*total, state.world.gpu_device[device]);
}

namespace {

// When the device can begin something. Under the session's lock.
double ready_at(const Session& session, int device, double now_ms) {
  const double busy_until = session.busy_until_ms[device];
  return session.queued[device] ? busy_until : std::max(busy_until, now_ms);
}

}  // namespace

void begin_work(const Call& call, int device, double bytes_moved, double more_ms) {
  State& state = call.state();
  Session& session = call.session();
  const double ms = bytes_moved / (state.machine.timing.bandwidth_gbps * 1e6) + more_ms;
  const Locked locked(state);
  const std::lock_guard<std::mutex> guard(session.lock);
  const double done = ready_at(session, device, state.world.now_ms) + ms;
  session.busy_until_ms[device] = done;
  session.queued[device] = true;
  state.world.busy_until_ms[device] = std::max(state.world.busy_until_ms[device], done);
}

double work_done_at(const Call& call, int device) {
  const std::lock_guard<std::mutex> guard(call.session().lock);
  return ready_at(call.session(), device, clock_ms(call.state()));
}

double mark_work(const Call& call, int device) {
  begin_work(call, device, 0, 0);
  return work_done_at(call, device);
}

void synchronize(const Call& call, int device) {
  wait_until(call, work_done_at(call, device));
  const std::lock_guard<std::mutex> guard(call.session().lock);
  call.session().queued[device] = false;
}

void wait_until(const Call& call, double ms) {
  sleep_ms(call.state(), ms - clock_ms(call.state()));
}

}  // namespace umasim

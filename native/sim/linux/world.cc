// The passing of time: what happens by itself between two looks at the machine.
#include <algorithm>
#include <cmath>

#include "sim/linux/memory.h"
#include "sim/linux/psi.h"
#include "sim/linux/reclaim.h"

namespace umasim {
namespace {

constexpr double kStepMs = 50;
constexpr int kMaxSteps = 64;  // bounds the work after a long time in which nobody looked
constexpr double kStalledFull = 0.97;

// Bytes that a rate of `ms_per_gib` moves in `dt_ms`; all of them where it takes no time.
uint64_t moved(double dt_ms, double ms_per_gib, uint64_t limit) {
  if (ms_per_gib <= 0) return limit;
  const double bytes = dt_ms / ms_per_gib * kGiB;
  return bytes >= static_cast<double>(limit) ? limit : static_cast<uint64_t>(bytes);
}

void give_back(State& state, int index, uint64_t bytes) {
  World& world = state.world;
  const Scripted& process = state.machine.processes[index];
  const bool shares = state.machine.devices[process.device].shares_host_memory;
  const uint64_t gpu = std::min(bytes, world.scripted_gpu[index]);
  world.scripted_gpu[index] -= gpu;
  if (!shares) {
    world.gpu_device[process.device] -= gpu;
  } else {
    world.gpu_host -= gpu;
    if (state.machine.driver.system_memory_pools > 0) {
      world.pools += gpu;
      world.pools_used_ms = world.now_ms;
    } else {
      freed(state, gpu, 1);
    }
  }
  anon_gone(state, &world.scripted_anon[index], std::min(bytes - gpu, world.scripted_anon[index]));
}

void end_process(State& state, int index) {
  give_back(state, index, kUnlimited);
  state.world.scripted_gone[index] = true;
}

// Memory that grows by `want`: as much of it as there is.
uint64_t grow(State& state, const Event& event, uint64_t want) {
  World& world = state.world;
  if (event.what == Happening::kDevice) {
    const int device = static_cast<int>(state.machine.processes[event.process].device);
    uint64_t bytes;
    if (state.machine.devices[device].shares_host_memory) {
      bytes = take(state, want, Use::kEager, 0).bytes;
      world.gpu_host += bytes;
    } else {
      const Device& own = state.machine.devices[device];
      bytes = std::min(want, less(own.memory, own.reserved + world.gpu_device[device]));
      world.gpu_device[device] += bytes;
    }
    world.scripted_gpu[event.process] += bytes;
    return bytes;
  }
  const uint64_t bytes = take(state, want, Use::kMovable, 0).bytes;
  switch (event.what) {
    case Happening::kFileDirty:
      world.file_dirty += bytes;
      world.file_cache += bytes;
      break;
    case Happening::kFileCache:
      world.file_cache += bytes;
      break;
    case Happening::kShmem:
      world.shmem += bytes;
      break;
    default:
      (event.process < 0 ? world.anon : world.scripted_anon[event.process]) += bytes;
  }
  return bytes;
}

void refuse(State& state, const Event& event, uint64_t missing) {
  World& world = state.world;
  if (world.scripted_stall_ms < 0) world.scripted_stall_ms = world.now_ms;
  const int pid =
      event.process < 0 ? 0 : static_cast<int>(state.machine.processes[event.process].pid);
  stall(state, pid, "memory of another process", missing, world.scripted_stall_ms);
  // Where the machine does not wedge, the OOM killer ends the process that asks.
  if (!state.machine.wedges && event.process >= 0 && event.what == Happening::kAnon) {
    world.counters.oom_kill++;
    end_process(state, event.process);
  }
}

// True when the event is waiting for memory.
bool happen(State& state, int index, double now_ms) {
  World& world = state.world;
  const Event& event = state.machine.events[index];
  const double from = event.after_first_allocation ? world.first_allocation_ms : 0;
  if (from < 0 || now_ms < from + event.at_ms) return false;
  if (event.process >= 0 && world.scripted_gone[event.process]) return false;
  // Nobody gets anything back from a machine that is wedged, nor any more of it.
  if (world.wedge.happened) return false;
  if (event.what == Happening::kExit) {
    end_process(state, event.process);
    return false;
  }
  const double share =
      event.over_ms <= 0 ? 1 : std::min(1.0, (now_ms - from - event.at_ms) / event.over_ms);
  const uint64_t due = static_cast<uint64_t>(static_cast<double>(event.bytes) * share);
  uint64_t& done = world.event_done[index];
  const uint64_t page = state.machine.kernel.page_size;
  const uint64_t want = share >= 1 ? less(due, done) : less(due, done) / page * page;
  if (want == 0) return false;
  if (event.what == Happening::kFree) {
    give_back(state, event.process, want);
    done += want;
    return false;
  }
  const uint64_t bytes = grow(state, event, want);
  done += bytes;
  // The reader of a file that finds no memory waits; it is not what wedges a machine.
  const bool cache = event.what == Happening::kFileCache || event.what == Happening::kFileDirty;
  if (bytes == want || cache) return false;
  refuse(state, event, want - bytes);
  return true;
}

// What comes back by itself, and what is written. Nothing of it does on a machine that is wedged.
void give_back_in_time(State& state, double dt_ms) {
  World& world = state.world;
  const uint64_t back = moved(dt_ms, state.machine.timing.exit, world.returning);
  world.returning -= back;
  freed(state, back, 1);
  const uint64_t idle_dirty = state.machine.memory.file_dirty;
  world.file_dirty -=
      moved(dt_ms, state.machine.timing.writeback, less(world.file_dirty, idle_dirty));
  const Driver& driver = state.machine.driver;
  if (world.now_ms - world.pools_used_ms > driver.pool_drain_after_ms) {
    const uint64_t drained = moved(dt_ms, driver.pool_drain_ms_per_gib, world.pools);
    world.pools -= drained;
    freed(state, drained, 1);
  }
}

void step(State& state, double dt_ms) {
  World& world = state.world;
  const double begun = world.now_ms;
  world.now_ms += dt_ms;
  bool waiting = false;
  for (int i = 0; i < state.machine.event_count; i++) {
    waiting = happen(state, i, world.now_ms) || waiting;
  }
  if (!waiting) world.scripted_stall_ms = -1;
  if (!world.wedge.happened) {
    give_back_in_time(state, dt_ms);
    background_reclaim(state);
  }
  settle_contiguity(state);
  const auto overlap = [&](double until) {
    return std::max(0.0, std::min(until, world.now_ms) - begun) / dt_ms;
  };
  double full = overlap(world.reclaim_until_ms) * world.reclaim_share;
  full = std::max(full, overlap(world.stall_until_ms) * kStalledFull);
  if (world.wedge.happened) full = kStalledFull;
  psi_advance(world.psi, full > 0 ? std::min(1.0, full * 1.15 + 0.02) : 0, full, dt_ms);
  if (!world.wedge.happened) {
    world.peak_pressure = std::max(world.peak_pressure, world.psi.full.avg10);
  }
}

}  // namespace

void advance(State& state, double now_ms) {
  const double dt = now_ms - state.world.now_ms;
  if (dt <= 0) return;
  const int steps = std::clamp(static_cast<int>(std::ceil(dt / kStepMs)), 1, kMaxSteps);
  for (int i = 0; i < steps; i++) step(state, dt / steps);
}

}  // namespace umasim

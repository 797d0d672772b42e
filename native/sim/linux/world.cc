#include "sim/linux/world.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/linux/memory.h"
#include "sim/linux/psi.h"
#include "sim/linux/reclaim.h"
#include "sim/linux/scripted_events.h"

namespace umasim {
namespace {

constexpr double kStepMs = 50;         // short against the 10 s of avg10
constexpr int kMaxSteps = 64;          // bounds the work of one advance after a long pause
constexpr double kStalledFull = 0.97;  // share of time lost while an allocation stalls

// Bytes moved in `dt_ms` at `ms_per_gib`, at most `limit`. A rate of 0 takes no time.
uint64_t moved(double dt_ms, double ms_per_gib, uint64_t limit) {
  if (ms_per_gib <= 0) return limit;
  const double bytes = dt_ms / ms_per_gib * kGiB;
  return bytes >= static_cast<double>(limit) ? limit : static_cast<uint64_t>(bytes);
}

// Frees the memory of exited processes and of idle pools, and writes dirty pages back.
void settle_over_time(State& state, double dt_ms) {
  World& world = state.world;
  const uint64_t back = moved(dt_ms, state.machine.timing.exit, world.returning);
  world.returning -= back;
  add_free_memory(state, back, 1);
  const uint64_t idle_dirty = state.machine.memory.file_dirty;
  world.file_dirty -=
      moved(dt_ms, state.machine.timing.writeback, saturating_sub(world.file_dirty, idle_dirty));
  const Driver& driver = state.machine.driver;
  if (world.now_ms - world.pools_used_ms > driver.pool_drain_after_ms) {
    const uint64_t drained = moved(dt_ms, driver.pool_drain_ms_per_gib, world.pools);
    world.pools -= drained;
    add_free_memory(state, drained, 1);
  }
}

void step(State& state, double dt_ms) {
  World& world = state.world;
  const double start_ms = world.now_ms;
  world.now_ms += dt_ms;
  bool waiting = false;
  for (int i = 0; i < state.machine.event_count; i++) {
    waiting = run_event(state, i) || waiting;
  }
  if (!waiting) world.scripted_stall_ms = -1;
  if (!world.wedge.happened) {
    settle_over_time(state, dt_ms);
    background_reclaim(state);
  }
  settle_contiguity(state);
  const auto overlap = [&](double until) {
    return std::max(0.0, std::min(until, world.now_ms) - start_ms) / dt_ms;
  };
  double full = overlap(world.reclaim_until_ms) * world.reclaim_share;
  full = std::max(full, overlap(world.stall_until_ms) * kStalledFull);
  full = std::max(full, scripted_pressure(state, start_ms, world.now_ms));
  if (world.wedge.happened) full = kStalledFull;
  psi_advance(world.psi, full > 0 ? std::min(1.0, full * 1.15 + 0.02) : 0, full, dt_ms);
  if (!world.wedge.happened) {
    world.peak_pressure = std::max(world.peak_pressure, world.psi.full.avg10);
  }
}

}  // namespace

std::string start_world(State& state) {
  const Machine& machine = state.machine;
  World& world = state.world;
  world.anon = machine.memory.anon;
  world.file_cache = machine.memory.file_cache;
  world.file_mapped = machine.memory.file_mapped;
  world.file_dirty = machine.memory.file_dirty;
  world.buffers = machine.memory.buffers;
  world.shmem = machine.memory.shmem;
  world.slab_reclaimable = machine.memory.slab_reclaimable;
  world.slab_unreclaimable = machine.memory.slab_unreclaimable;
  world.pools = machine.driver.pool_bytes;
  world.cpu_lists = machine.memory.free_in_cpu_lists;
  world.scripted_stall_ms = -1;
  world.first_allocation_ms = -1;
  for (int i = 0; i < machine.process_count; i++) {
    const ScriptedProcess& process = machine.processes[i];
    world.scripted_anon[i] = process.anon_bytes;
    world.scripted_gpu[i] = process.gpu_bytes;
    if (process.gpu_bytes == 0) continue;
    const bool shares = machine.devices[process.device].shares_host_memory;
    (shares ? world.gpu_host : world.gpu_device[process.device]) += process.gpu_bytes;
  }
  const uint64_t total = machine.memory.total;
  if (used_bytes(state) > total) {
    return "memory.total is " + std::to_string(total) +
           "; the memory in use at boot exceeds it by " +
           std::to_string(used_bytes(state) - total) + " bytes";
  }
  if (machine.memory.huge_pages_free > machine.memory.huge_pages_total) {
    return "memory.hugePagesFree is more than memory.hugePagesTotal";
  }
  if (machine.memory.file_mapped + machine.memory.file_dirty > machine.memory.file_cache) {
    return "memory.fileMapped and memory.fileDirty together are more than memory.fileCache";
  }
  if (machine.memory.mlocked > machine.memory.anon) {
    return "memory.mlocked is more than memory.anon";
  }
  if (machine.memory.swap_used > machine.memory.swap_total) {
    return "memory.swapUsed is more than memory.swapTotal";
  }
  world.least_available = available_bytes(state);
  const uint64_t free = saturating_sub(free_bytes(state), cma_free(state));
  add_free_memory(state, free, machine.contiguity.share);
  const double small = static_cast<double>(free - world.free_in_blocks);
  world.unmovable = static_cast<uint64_t>(small * (1 - machine.contiguity.compactable));
  return {};
}

void advance(State& state, double now_ms) {
  const double dt = now_ms - state.world.now_ms;
  if (dt <= 0) return;
  const int steps = std::clamp(static_cast<int>(std::ceil(dt / kStepMs)), 1, kMaxSteps);
  for (int i = 0; i < steps; i++) step(state, dt / steps);
}

void stall(State& state, int pid, const char* during, uint64_t bytes, double since_ms) {
  World& world = state.world;
  // 250 simulated ms, at least 20 real ms: longer than the pause between two attempts, so pressure
  // does not drop in between.
  constexpr double kLeastMs = 250;
  world.stall_until_ms = world.now_ms + std::max(kLeastMs, 20 * state.machine.scale);
  if (!state.machine.wedges || world.wedge.happened) return;
  if (world.now_ms - since_ms < state.machine.wedge_after_ms) return;
  world.wedge.at_ms = world.now_ms;
  world.wedge.pid = pid;
  world.wedge.bytes = bytes;
  std::snprintf(world.wedge.during, sizeof world.wedge.during, "%s", during);
  world.wedge.happened = true;
}

}  // namespace umasim

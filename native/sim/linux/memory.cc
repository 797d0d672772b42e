#include "sim/linux/memory.h"

#include <algorithm>
#include <cstdio>

namespace umasim {

Watermarks watermarks(const State& state) {
  // As __setup_per_zone_wmarks() does, with the whole machine as one zone.
  const Memory& memory = state.machine.memory;
  const uint64_t step =
      std::max(memory.min_free / 4, memory.total / 10000 * memory.watermark_scale_factor);
  return {memory.min_free, memory.min_free + step, memory.min_free + 2 * step};
}

namespace {

uint64_t all_anon(const State& state) {
  const World& world = state.world;
  uint64_t bytes = world.anon + world.registered + world.system;
  for (uint64_t scripted : world.scripted_anon) bytes += scripted;
  return bytes;
}

// Everything that is not MemFree.
uint64_t used(const State& state) {
  const Memory& fixed = state.machine.memory;
  const World& world = state.world;
  return anon_pages(state) + world.file_cache + world.buffers + world.shmem +
         world.slab_reclaimable + fixed.slab_unreclaimable + fixed.kernel_stack +
         fixed.page_tables + fixed.percpu + fixed.driver_held + hugetlb(state) + world.pools +
         world.gpu_host + world.returning;
}

}  // namespace

uint64_t anon_pages(const State& state) { return less(all_anon(state), state.world.swapped); }

uint64_t clean_unmapped(const State& state) {
  const World& world = state.world;
  return less(world.file_cache, world.file_mapped + world.file_dirty) + world.buffers;
}

uint64_t reclaimable(const State& state) {
  return less(state.world.file_cache, state.world.file_dirty) + state.world.buffers +
         state.world.slab_reclaimable / 2;
}

uint64_t hugetlb(const State& state) {
  return state.machine.memory.huge_pages_total * state.machine.memory.huge_page_size;
}

uint64_t swap_used(const State& state) {
  return std::min(state.machine.memory.swap_used + state.world.swapped,
                  state.machine.memory.swap_total);
}

uint64_t free_bytes(const State& state) {
  const uint64_t bytes = less(state.machine.memory.total, used(state));
  return bytes - bytes % state.machine.kernel.page_size;
}

uint64_t cma_free(const State& state) {
  return std::min(state.machine.memory.cma_free, free_bytes(state));
}

uint64_t available_bytes(const State& state) {
  // The reserve is the high watermark; the kernel adds lowmem_reserve, which one zone has none of.
  const World& world = state.world;
  const Watermarks marks = watermarks(state);
  const uint64_t file_lru = world.file_cache + world.buffers;
  uint64_t bytes = less(free_bytes(state), marks.high);
  bytes += file_lru - std::min(file_lru / 2, marks.low);
  bytes += world.slab_reclaimable - std::min(world.slab_reclaimable / 2, marks.low);
  return bytes - bytes % state.machine.kernel.page_size;
}

void anon_gone(State& state, uint64_t* holder, uint64_t bytes) {
  // As much of it is in swap as of anybody's.
  World& world = state.world;
  const uint64_t all = all_anon(state);
  const uint64_t in_swap =
      all == 0 ? 0
               : static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(all) *
                                       static_cast<double>(world.swapped));
  *holder -= bytes;
  world.swapped -= std::min(world.swapped, in_swap);
  if (world.wedge.happened) {
    world.returning += less(bytes, in_swap);
  } else {
    freed(state, less(bytes, in_swap), state.machine.contiguity.after_reclaim);
  }
}

void settle_contiguity(State& state) {
  World& world = state.world;
  const uint64_t free = less(free_bytes(state), cma_free(state));
  world.big_free = std::min(world.big_free - world.big_free % kBlock, free - free % kBlock);
  world.stuck = std::min(world.stuck, free - world.big_free);
}

void freed(State& state, uint64_t bytes, double share) {
  state.world.big_free += static_cast<uint64_t>(static_cast<double>(bytes) * share);
  settle_contiguity(state);
}

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
  world.pools = machine.driver.pool_bytes;
  world.scripted_stall_ms = -1;
  world.first_allocation_ms = -1;
  for (int i = 0; i < machine.process_count; i++) {
    const Scripted& process = machine.processes[i];
    world.scripted_anon[i] = process.anon_bytes;
    world.scripted_gpu[i] = process.gpu_bytes;
    if (process.gpu_bytes == 0) continue;
    const bool shares = machine.devices[process.device].shares_host_memory;
    (shares ? world.gpu_host : world.gpu_device[process.device]) += process.gpu_bytes;
  }
  const uint64_t total = machine.memory.total;
  if (used(state) > total) {
    return "memory.total is " + std::to_string(total) + ", and what the machine holds at boot is " +
           std::to_string(used(state) - total) + " bytes more";
  }
  if (machine.memory.huge_pages_free > machine.memory.huge_pages_total) {
    return "memory.hugePagesFree is more than memory.hugePagesTotal";
  }
  if (machine.memory.file_mapped + machine.memory.file_dirty > machine.memory.file_cache) {
    return "memory.fileMapped and memory.fileDirty together are more than memory.fileCache";
  }
  if (machine.memory.mlocked > machine.memory.anon)
    return "memory.mlocked is more than memory.anon";
  if (machine.memory.swap_used > machine.memory.swap_total) {
    return "memory.swapUsed is more than memory.swapTotal";
  }
  world.least_available = available_bytes(state);
  const double free = static_cast<double>(less(free_bytes(state), cma_free(state)));
  world.big_free = static_cast<uint64_t>(free * machine.contiguity.share);
  settle_contiguity(state);
  // A machine that compaction cannot help is one where it has been tried.
  const double small = free - static_cast<double>(world.big_free);
  world.stuck = static_cast<uint64_t>(small * (1 - machine.contiguity.compactable));
  return {};
}

void stall(State& state, int pid, const char* during, uint64_t bytes, double since_ms) {
  World& world = state.world;
  constexpr double kUntilNextLookMs = 250;
  world.stall_until_ms = world.now_ms + std::max(kUntilNextLookMs, 20 * state.machine.scale);
  if (!state.machine.wedges || world.wedge.happened) return;
  if (world.now_ms - since_ms < state.machine.wedge_after_ms) return;
  world.wedge.at_ms = world.now_ms;
  world.wedge.pid = pid;
  world.wedge.bytes = bytes;
  std::snprintf(world.wedge.during, sizeof world.wedge.during, "%s", during);
  world.wedge.happened = true;
}

}  // namespace umasim

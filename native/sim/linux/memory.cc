#include "sim/linux/memory.h"

#include <algorithm>

namespace umasim {
namespace {

uint64_t all_anon(const State& state) {
  const World& world = state.world;
  uint64_t bytes = world.anon + world.registered + world.system;
  for (uint64_t scripted : world.scripted_anon) bytes += scripted;
  return bytes;
}

}  // namespace

Watermarks watermarks(const State& state) {
  // The formula of __setup_per_zone_wmarks(), with the whole machine as one zone.
  const Memory& memory = state.machine.memory;
  const uint64_t step =
      std::max(memory.min_free / 4, memory.total / 10000 * memory.watermark_scale_factor);
  return {memory.min_free, memory.min_free + step, memory.min_free + 2 * step};
}

uint64_t used_bytes(const State& state) {
  const Memory& fixed = state.machine.memory;
  const World& world = state.world;
  return anon_pages(state) + world.file_cache + world.buffers + world.shmem +
         world.slab_reclaimable + world.slab_unreclaimable + fixed.kernel_stack +
         fixed.page_tables + fixed.percpu + fixed.driver_held + hugetlb(state) + world.pools +
         world.gpu_host + world.returning + world.cpu_lists;
}

uint64_t anon_pages(const State& state) {
  return saturating_sub(all_anon(state), state.world.swapped);
}

uint64_t clean_file_cache(const State& state) {
  const World& world = state.world;
  return saturating_sub(world.file_cache, world.file_mapped + world.file_dirty);
}

uint64_t dirty_limit(const State& state) {
  constexpr uint64_t kDirtyRatio = 20;
  return (free_bytes(state) + state.world.file_cache) / 100 * kDirtyRatio;
}

uint64_t reclaimable(const State& state) {
  return saturating_sub(state.world.file_cache, state.world.file_dirty) + state.world.buffers +
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
  const uint64_t bytes = saturating_sub(state.machine.memory.total, used_bytes(state));
  return bytes - bytes % state.machine.linux_kernel.page_size;
}

uint64_t cma_free(const State& state) {
  return std::min(state.machine.memory.cma_free, free_bytes(state));
}

uint64_t available_bytes(const State& state) {
  // The reserve is the high watermark. Linux adds lowmem_reserve, which is 0 with a single zone.
  const World& world = state.world;
  const Watermarks marks = watermarks(state);
  const uint64_t file_lru = world.file_cache + world.buffers;
  uint64_t bytes = saturating_sub(free_bytes(state), marks.high);
  bytes += file_lru - std::min(file_lru / 2, marks.low);
  bytes += world.slab_reclaimable - std::min(world.slab_reclaimable / 2, marks.low);
  return bytes - bytes % state.machine.linux_kernel.page_size;
}

void release_anon(State& state, uint64_t* holder, uint64_t bytes) {
  // Every process has the same share of its memory in swap.
  World& world = state.world;
  const uint64_t all = all_anon(state);
  const uint64_t in_swap =
      all == 0 ? 0
               : static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(all) *
                                       static_cast<double>(world.swapped));
  *holder -= bytes;
  world.swapped -= std::min(world.swapped, in_swap);
  if (world.wedge.happened) {
    world.returning += saturating_sub(bytes, in_swap);
  } else {
    add_free_pages(state, saturating_sub(bytes, in_swap));
  }
}

void settle_contiguity(State& state) {
  World& world = state.world;
  const uint64_t free = saturating_sub(free_bytes(state), cma_free(state));
  world.free_in_blocks = std::min(world.free_in_blocks - world.free_in_blocks % kDriverBlock,
                                  free - free % kDriverBlock);
  world.unmovable = std::min(world.unmovable, free - world.free_in_blocks);
}

void add_free_memory(State& state, uint64_t bytes, double block_share) {
  state.world.free_in_blocks += static_cast<uint64_t>(static_cast<double>(bytes) * block_share);
  settle_contiguity(state);
}

void add_free_pages(State& state, uint64_t bytes) {
  World& world = state.world;
  const uint64_t most = state.machine.memory.free_in_cpu_lists;
  const uint64_t listed = std::min(bytes, saturating_sub(most, world.cpu_lists));
  world.cpu_lists += listed;
  add_free_memory(state, bytes - listed, state.machine.contiguity.after_reclaim);
}

void drain_cpu_lists(State& state) {
  const uint64_t bytes = state.world.cpu_lists;
  state.world.cpu_lists = 0;
  add_free_memory(state, bytes, state.machine.contiguity.after_reclaim);
}

}  // namespace umasim

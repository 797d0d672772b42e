#include "sim/linux/reclaim.h"

#include <algorithm>

#include "sim/linux/memory.h"

namespace umasim {
namespace {

constexpr double kMappedCost = 3;        // cost factor: unmap first, major fault later
constexpr double kSwappableShare = 0.8;  // share of unlocked memory; the rest is hot
constexpr uint64_t kFaultedPages = 8;    // one in 8 reclaimed mapped pages faults again
constexpr double kStallShare = 0.15;     // stalled share of direct reclaim (assumed)
// Stalled share of compaction, which moves pages in memory and waits for no disk (assumed).
constexpr double kCompactionStallShare = 0.05;

double gib(uint64_t bytes) { return static_cast<double>(bytes) / kGiB; }

uint64_t reclaimable_slab(const State& state) {
  return saturating_sub(state.world.slab_reclaimable, state.machine.memory.slab_reclaimable / 2);
}

uint64_t swappable(const State& state) {
  const Memory& memory = state.machine.memory;
  if (memory.swappiness == 0) return 0;
  const uint64_t cold = saturating_sub(anon_pages(state), memory.mlocked + state.world.registered);
  const uint64_t kept = static_cast<uint64_t>(static_cast<double>(cold) * (1 - kSwappableShare));
  const uint64_t left = saturating_sub(memory.swap_total, swap_used(state));
  return std::min(saturating_sub(cold, std::max(kept, memory.anon / 5)), left);
}

struct Reclaimed {
  uint64_t bytes;
  double ms;
};

uint64_t take_from(uint64_t& source, uint64_t available, uint64_t want) {
  const uint64_t bytes = std::min({source, available, want});
  source -= bytes;
  return bytes;
}

// Frees the cheapest memory first. `clean_only`, for kswapd, spares mapped, dirty and swappable
// pages.
Reclaimed reclaim(State& state, uint64_t want, bool clean_only) {
  World& world = state.world;
  const Timing& timing = state.machine.timing;
  Reclaimed got{0, 0};
  const auto add = [&](uint64_t bytes, double ms_per_gib) {
    got.bytes += bytes;
    got.ms += gib(bytes) * ms_per_gib;
  };
  add(take_from(world.file_cache, clean_file_cache(state), want), timing.reclaim);
  add(take_from(world.buffers, world.buffers, want - got.bytes), timing.reclaim);
  add(take_from(world.slab_reclaimable, reclaimable_slab(state), want - got.bytes), timing.reclaim);
  if (clean_only) return got;
  const uint64_t mapped = take_from(world.file_mapped, world.file_mapped, want - got.bytes);
  world.file_cache -= mapped;
  world.counters.pgmajfault += mapped / state.machine.linux_kernel.page_size / kFaultedPages;
  add(mapped, timing.reclaim * kMappedCost);
  const uint64_t written = take_from(world.file_dirty, world.file_dirty, want - got.bytes);
  world.file_cache -= written;
  add(written, timing.reclaim + timing.writeback);
  const uint64_t swapped = std::min(swappable(state), want - got.bytes);
  world.swapped += swapped;
  add(swapped, timing.swap);
  return got;
}

// Adds the pressure of tasks that wait for memory: for `share` of `ms` none can run.
void note_stall(State& state, double ms, double share) {
  World& world = state.world;
  world.reclaim_share = share;
  world.reclaim_until_ms = std::max(world.reclaim_until_ms, world.now_ms) + ms;
}

// Pressure rises as less reclaimable memory is left.
double reclaim_pressure(const State& state) {
  const double left = static_cast<double>(reclaimable(state)) /
                      (static_cast<double>(state.machine.memory.total) * 0.1);
  return kStallShare + 0.75 * (1 - std::min(1.0, left));
}

uint64_t direct_reclaim(State& state, uint64_t want, double* ms) {
  const Reclaimed got = reclaim(state, want, false);
  Counters& counters = state.world.counters;
  const uint64_t pages = got.bytes / state.machine.linux_kernel.page_size;
  counters.allocstall++;
  counters.pgsteal_direct += pages;
  counters.pgscan_direct += pages + pages / 4 + 32;
  if (got.ms > 0) note_stall(state, got.ms, reclaim_pressure(state));
  *ms += got.ms;
  add_free_memory(state, got.bytes, state.machine.contiguity.after_reclaim);
  return got.bytes;
}

void kswapd(State& state, uint64_t want) {
  const Reclaimed got = reclaim(state, want, true);
  const uint64_t pages = got.bytes / state.machine.linux_kernel.page_size;
  state.world.counters.pgsteal_kswapd += pages;
  state.world.counters.pgscan_kswapd += pages + pages / 8;
  add_free_memory(state, got.bytes, state.machine.contiguity.after_reclaim);
}

// Compacts for a task that needs blocks of 2 MiB: no more than it needs, and it waits.
void direct_compact(State& state, uint64_t need, double* ms) {
  const uint64_t blocks = usable(state, Use::kEager);
  if (blocks >= need || usable(state, Use::kManaged) <= blocks) return;
  const uint64_t merged = compact(state, need - blocks + kDriverBlock - 1);
  const double spent = gib(merged) * state.machine.timing.compact;
  if (spent > 0) note_stall(state, spent, kCompactionStallShare);
  *ms += spent;
}

}  // namespace

uint64_t usable(const State& state, Use use) {
  const uint64_t above = saturating_sub(free_bytes(state), watermarks(state).min);
  if (use == Use::kMovable) return above;
  const uint64_t pinnable = saturating_sub(above, cma_free(state));
  return use == Use::kEager ? std::min(pinnable, state.world.free_in_blocks) : pinnable;
}

uint64_t compact(State& state, uint64_t want) {
  World& world = state.world;
  const uint64_t free = saturating_sub(free_bytes(state), cma_free(state));
  const uint64_t movable = saturating_sub(free, world.free_in_blocks + world.unmovable);
  const uint64_t blocks = std::min(movable / kDriverBlock, want / kDriverBlock);
  world.counters.compact_stall++;
  (blocks > 0 ? world.counters.compact_success : world.counters.compact_fail)++;
  world.free_in_blocks += blocks * kDriverBlock;
  return blocks * kDriverBlock;
}

Taken take_pages(State& state, uint64_t want, Use use, double ms_per_gib) {
  World& world = state.world;
  const Timing& timing = state.machine.timing;
  Taken taken{0, 0};
  if (use == Use::kEager) {
    taken.bytes = std::min(want, world.pools);
    world.pools -= taken.bytes;
    world.pools_used_ms = world.now_ms;
    taken.ms += gib(taken.bytes) * timing.warm;
  }
  const uint64_t more = want - taken.bytes;
  if (more == 0) return taken;
  if (usable(state, use) < more) drain_cpu_lists(state);
  if (use == Use::kEager) direct_compact(state, more, &taken.ms);
  // Movable memory is faulted in page by page, and kswapd keeps ahead while clean cache is left.
  if (use == Use::kMovable && usable(state, use) < more) kswapd(state, more - usable(state, use));
  // Several rounds, like __GFP_RETRY_MAYFAIL, because reclaimed memory is only partly in blocks.
  for (int round = 0; round < 16 && usable(state, use) < more; round++) {
    const uint64_t missing = std::max(more - usable(state, use), kDriverBlock);
    if (direct_reclaim(state, missing + missing / 4, &taken.ms) == 0) break;
    if (use == Use::kEager) direct_compact(state, more, &taken.ms);
  }
  const uint64_t from_free = std::min(more, usable(state, use));
  taken.bytes += from_free;
  taken.ms += gib(from_free) * ms_per_gib;
  if (use == Use::kEager) {
    world.free_in_blocks -= from_free;
  } else {
    // Unmovable pages come from unmovable pageblocks first; the others spare them.
    if (use == Use::kManaged) world.unmovable -= std::min(world.unmovable, from_free);
    // Small pages come from small blocks first; then larger blocks are split.
    const uint64_t small =
        saturating_sub(saturating_sub(free_bytes(state), cma_free(state)), world.free_in_blocks);
    world.free_in_blocks -= std::min(world.free_in_blocks, saturating_sub(from_free, small));
  }
  return taken;
}

void background_reclaim(State& state) {
  const Watermarks marks = watermarks(state);
  const uint64_t free = free_bytes(state);
  if (free < marks.low) kswapd(state, marks.high - free);
}

uint64_t reclaim_clean(State& state, uint64_t want, bool slab_too) {
  World& world = state.world;
  uint64_t bytes = take_from(world.file_cache, clean_file_cache(state), want);
  if (slab_too) {
    bytes += take_from(world.buffers, world.buffers, want - bytes);
    bytes += take_from(world.slab_reclaimable, reclaimable_slab(state), want - bytes);
  }
  add_free_pages(state, bytes);
  return bytes;
}

uint64_t drop_caches(State& state, int level) {
  World& world = state.world;
  uint64_t pages = 0, pools = 0;
  if ((level & 1) != 0) {
    pages += take_from(world.file_cache, clean_file_cache(state), kUnlimited);
    pages += take_from(world.buffers, world.buffers, kUnlimited);
    world.counters.drop_pagecache++;
  }
  if ((level & 2) != 0) {
    pages += take_from(world.slab_reclaimable, reclaimable_slab(state), kUnlimited);
    pools = take_from(world.pools, world.pools, kUnlimited);
    world.counters.drop_slab++;
  }
  add_free_pages(state, pages);
  add_free_memory(state, pools, 1);
  return pages + pools;
}

}  // namespace umasim

// The memory of the machine: how much is used and free, and the watermarks.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Allocation unit of the driver: 2 MiB, which is order 9 with pages of 4 KiB.
constexpr uint64_t kDriverBlock = 2ull << 20;

// a - b, or 0 if b is larger.
inline uint64_t saturating_sub(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

struct Watermarks {
  uint64_t min, low, high;
};
Watermarks watermarks(const State& state);

// Everything that is not MemFree.
uint64_t used_bytes(const State& state);
// AnonPages: the anonymous memory of all processes that is not swapped out.
uint64_t anon_pages(const State& state);
// Page cache that reclaim can drop without writeback and without unmapping it first.
uint64_t clean_file_cache(const State& state);
// The dirty pages from which on writers wait: vm.dirty_ratio (20 %, the kernel's default) of free
// memory and file pages.
uint64_t dirty_limit(const State& state);
// Memory that reclaim can free without swap.
uint64_t reclaimable(const State& state);
uint64_t hugetlb(const State& state);
uint64_t swap_used(const State& state);
// MemFree, in whole pages.
uint64_t free_bytes(const State& state);
// MemAvailable, by the formula of si_mem_available().
uint64_t available_bytes(const State& state);
// Free memory of MIGRATE_CMA: part of MemFree, but unusable for pinned allocations.
uint64_t cma_free(const State& state);

// Adds freed memory; `block_share` of it is in blocks of 2 MiB. The rest is movable, as page cache
// and anonymous memory are.
void add_free_memory(State& state, uint64_t bytes, double block_share);
// Adds freed single pages: they go to the lists of the processors until those are full.
void add_free_pages(State& state, uint64_t bytes);
// Takes all pages back from the lists of the processors.
void drain_cpu_lists(State& state);
// Frees anonymous memory that `holder` counts, with its share of the swap.
void release_anon(State& state, uint64_t* holder, uint64_t bytes);
// Limits free_in_blocks and unmovable to the free memory. Call it after every change of free
// memory.
void settle_contiguity(State& state);

}  // namespace umasim

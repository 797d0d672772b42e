// The memory of the machine: what is in it, what is left, and what the kernel makes of that.
#pragma once
#include "sim/state/state.h"

namespace umasim {

constexpr uint64_t kBlock = 2ull << 20;  // what the driver allocates in: order 9 of 4 KiB pages

struct Watermarks {
  uint64_t min, low, high;
};
Watermarks watermarks(const State& state);

// a - b, or 0.
inline uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// AnonPages: of everybody, less what is in swap.
uint64_t anon_pages(const State& state);
// Page cache that can go without being written or unmapped first.
uint64_t clean_unmapped(const State& state);
// What reclaim can still find, swap left out.
uint64_t reclaimable(const State& state);
uint64_t hugetlb(const State& state);
uint64_t swap_used(const State& state);
// MemFree, in whole pages.
uint64_t free_bytes(const State& state);
// MemAvailable, as si_mem_available() of the kernel estimates it.
uint64_t available_bytes(const State& state);
// Free pages that count as free and that nothing pinned can have (MIGRATE_CMA).
uint64_t cma_free(const State& state);

// Initial values from the machine; a sentence when they do not fit into its memory.
std::string start_world(State& state);
// Memory became free: `share` of it in blocks of 2 MiB.
void freed(State& state, uint64_t bytes, double share);
// `bytes` of anonymous memory that `holder` counts are gone, those in swap with them.
void anon_gone(State& state, uint64_t* holder, uint64_t bytes);
// Keeps the division of free memory within what is free. After every change.
void settle_contiguity(State& state);

// Brings the world up to `now`: events, writeback, kswapd, pools, pressure.
void advance(State& state, double now_ms);

// A request of `bytes` cannot be met and has waited since `since_ms`: pressure rises, and a machine
// that wedges does so in time.
void stall(State& state, int pid, const char* during, uint64_t bytes, double since_ms);

}  // namespace umasim

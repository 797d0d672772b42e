// Page allocation and reclaim: free pages, the driver's pools, page cache, swap and compaction;
// also the actions of drop_caches and compact_memory.
#pragma once
#include "sim/state/state.h"

namespace umasim {

enum class Use {
  kEager,    // 2 MiB blocks of the driver: unmovable, from the pools first
  kManaged,  // unmovable pages of any size
  kMovable,  // anonymous memory and page cache
};

struct Taken {
  uint64_t bytes;
  double ms;
};

// Takes up to `want` bytes; free pages cost `ms_per_gib`. Fewer bytes mean that nothing more is
// left for this use. The caller adds them to a total before it releases the lock.
Taken take_pages(State& state, uint64_t want, Use use, double ms_per_gib);

// Free memory that this use can take without reclaim.
uint64_t usable(const State& state, Use use);

// kswapd: refills free memory to the high watermark from clean cache once it is below the low one.
void background_reclaim(State& state);

// Writes 1, 2 or 3 to drop_caches. Returns the bytes freed.
uint64_t drop_caches(State& state, int level);
// Makes blocks of 2 MiB of free pages in movable pageblocks: up to `want` bytes. Returns the bytes.
uint64_t compact(State& state, uint64_t want);
// Frees up to `want` bytes of clean page cache and, with `slab_too`, of buffers and slab. Returns
// the bytes freed.
uint64_t reclaim_clean(State& state, uint64_t want, bool slab_too);

}  // namespace umasim

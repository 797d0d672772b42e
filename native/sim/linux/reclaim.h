// How the kernel finds memory for somebody: free pages, the driver's pools, page cache, swap,
// compaction; and what drop_caches and compact_memory do.
#pragma once
#include "sim/state/state.h"

namespace umasim {

enum class Use {
  kEager,    // the driver's 2 MiB blocks: unmovable, from the pools first
  kManaged,  // unmovable pages of any size
  kMovable,  // ordinary memory of a process, or page cache
};

struct Taken {
  uint64_t bytes;
  double ms;
};

// Finds up to `want` bytes; free pages cost `ms_per_gib`. The caller accounts for them before it
// lets go of the lock. Fewer bytes than wanted: there is nothing left for this use.
Taken take(State& state, uint64_t want, Use use, double ms_per_gib);

// Free memory that this use may have as it is.
uint64_t usable(const State& state, Use use);

// kswapd: keeps free memory above the low watermark at the expense of clean cache.
void background_reclaim(State& state);

// drop_caches 1, 2 or 3: the bytes it freed.
uint64_t drop_caches(State& state, int level);
void compact(State& state);
// Clean page cache, at most so much; slab with it where it is anybody's. The bytes freed.
uint64_t reclaim_clean(State& state, uint64_t want, bool slab_too);

}  // namespace umasim

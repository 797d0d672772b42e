// The free memory of each zone as blocks, by order and by the type of their pageblocks.
#pragma once
#include <vector>

#include "sim/state/state.h"

namespace umasim {

constexpr int kMostOrders = 16;

struct BlockCounts {
  uint64_t of[kMostOrders];
};

struct ZoneBlocks {
  const char* name;
  uint64_t managed, free;           // pages
  BlockCounts all, unmovable, cma;  // the rest of `all` is movable
};

// The low zone, if the machine has one, and Normal.
std::vector<ZoneBlocks> zones_of(const State& state);

// Binary logarithm of the pages in a pageblock.
int pageblock_order(const LinuxKernel& linux_kernel);

}  // namespace umasim

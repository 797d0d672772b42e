#include "sim/linux/free_blocks.h"

#include <algorithm>

#include "sim/linux/memory.h"

namespace umasim {
namespace {

// The order of a 2 MiB block.
int big_order(const LinuxKernel& linux_kernel) {
  int order = 0;
  while ((linux_kernel.page_size << order) < kDriverBlock) order++;
  return order;
}

// Divides `pages` into blocks of the orders from `high` down to `low`. Every order gets an equal
// share, and the remainder of a share goes to the next order.
void spread(BlockCounts& counts, uint64_t pages, int high, int low) {
  for (int order = high; order >= low; order--) {
    const uint64_t share = order == low ? pages : pages / static_cast<uint64_t>(order - low + 1);
    const uint64_t blocks = share >> order;
    counts.of[order] += blocks;
    pages -= blocks << order;
  }
}

BlockCounts divide(const State& state, uint64_t free_pages, uint64_t big_pages) {
  const LinuxKernel& linux_kernel = state.machine.linux_kernel;
  const ContiguityRules& rules = state.machine.contiguity;
  const int low = big_order(linux_kernel);
  const int high =
      std::min(static_cast<int>(rules.largest_order), static_cast<int>(linux_kernel.orders) - 1);
  BlockCounts counts{};
  if (high < low) {
    spread(counts, free_pages, high, 0);
    return counts;
  }
  const uint64_t at_top =
      static_cast<uint64_t>(static_cast<double>(big_pages) * rules.top_order_share) >> high;
  counts.of[high] = at_top;
  const uint64_t rest = big_pages - (at_top << high);
  // The rest goes below the top order, so that the top keeps the share of topOrderShare.
  if (high == low) {
    counts.of[low] += rest >> low;
  } else {
    spread(counts, rest, high - 1, low);
  }
  uint64_t small = free_pages;
  for (int order = low; order <= high; order++) small -= counts.of[order] << order;
  spread(counts, small, std::min(low - 1, high), 0);
  return counts;
}

// Returns the same share of each order from `low` to `high` of `all` blocks: `pages` together, less
// the parts of blocks.
BlockCounts share_of(const BlockCounts& all, uint64_t pages, int low, int high) {
  uint64_t of_all = 0;
  for (int order = low; order <= high; order++) of_all += all.of[order] << order;
  BlockCounts counts{};
  if (of_all == 0) return counts;
  const double share = static_cast<double>(std::min(pages, of_all)) / static_cast<double>(of_all);
  for (int order = low; order <= high; order++) {
    counts.of[order] = static_cast<uint64_t>(static_cast<double>(all.of[order]) * share);
  }
  return counts;
}

// `amount` × part / whole, in units.
uint64_t proportion(uint64_t amount, uint64_t part, uint64_t whole, uint64_t unit) {
  if (whole == 0) return 0;
  const double share = static_cast<double>(part) / static_cast<double>(whole);
  return static_cast<uint64_t>(static_cast<double>(amount) * share) / unit * unit;
}

}  // namespace

std::vector<ZoneBlocks> zones_of(const State& state) {
  const LinuxKernel& linux_kernel = state.machine.linux_kernel;
  const uint64_t page = linux_kernel.page_size;
  const uint64_t free = free_bytes(state) / page;
  const uint64_t cma = cma_free(state) / page;
  const uint64_t big = std::min(state.world.free_in_blocks / page + cma, free);
  const uint64_t total = state.machine.memory.total / page;
  const int big_from = big_order(linux_kernel);
  const auto zone = [&](const char* name, uint64_t managed, uint64_t zone_free, uint64_t zone_big) {
    const uint64_t unmovable =
        proportion(state.world.unmovable / page, zone_free - zone_big, free - big, 1);
    ZoneBlocks blocks{name, managed, zone_free, divide(state, zone_free, zone_big), {}, {}};
    blocks.unmovable = share_of(blocks.all, unmovable, 0, big_from - 1);
    blocks.cma = share_of(blocks.all, proportion(cma, zone_big, big, 1), big_from, kMostOrders - 1);
    return blocks;
  };
  // The low zone is used last, so most of it stays free, up to an eighth of all free memory.
  const uint64_t low_managed = std::min(linux_kernel.low_zone_bytes / page, total);
  const uint64_t low = std::min(linux_kernel.low_zone_bytes / page / 16 * 15, free / 8);
  const uint64_t low_big = proportion(low, big, free, kDriverBlock / page);
  // low_big is rounded down, so that the rest may exceed the free memory of the other zone.
  const uint64_t normal_big = std::min(big - low_big, free - low);
  std::vector<ZoneBlocks> zones;
  if (linux_kernel.low_zone_bytes > 0) {
    zones.push_back(zone(linux_kernel.low_zone, low_managed, low, low_big));
  }
  zones.push_back(zone("Normal", total - low_managed, free - low, normal_big));
  return zones;
}

int pageblock_order(const LinuxKernel& linux_kernel) {
  // A pageblock is what one entry of a page directory maps, at most a block of the largest order.
  int order = 0;
  while ((8ull << order) < linux_kernel.page_size) order++;
  return std::min(order, static_cast<int>(linux_kernel.orders) - 1);
}

}  // namespace umasim

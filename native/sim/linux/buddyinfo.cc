// /proc/buddyinfo and /proc/zoneinfo: free memory by order and zone. The blocks sum to MemFree
// exactly.
#include <algorithm>
#include <cstdio>

#include "sim/linux/memory.h"
#include "sim/linux/procfs_texts.h"

namespace umasim {
namespace {

constexpr int kMostOrders = 16;

struct Counts {
  uint64_t blocks[kMostOrders];
};

// The order of a 2 MiB block.
int big_order(const LinuxKernel& linux_kernel) {
  int order = 0;
  while ((linux_kernel.page_size << order) < kDriverBlock) order++;
  return order;
}

// Divides `pages` into blocks of the orders from `high` down to `low`. Every order gets an equal
// share, and the remainder of a share goes to the next order.
void spread(Counts& counts, uint64_t pages, int high, int low) {
  for (int order = high; order >= low; order--) {
    const uint64_t share = order == low ? pages : pages / static_cast<uint64_t>(order - low + 1);
    const uint64_t blocks = share >> order;
    counts.blocks[order] += blocks;
    pages -= blocks << order;
  }
}

Counts divide(const State& state, uint64_t free_pages, uint64_t big_pages) {
  const LinuxKernel& linux_kernel = state.machine.linux_kernel;
  const ContiguityRules& rules = state.machine.contiguity;
  const int low = big_order(linux_kernel);
  const int high =
      std::min(static_cast<int>(rules.largest_order), static_cast<int>(linux_kernel.orders) - 1);
  Counts counts{};
  if (high < low) {
    spread(counts, free_pages, high, 0);
    return counts;
  }
  const uint64_t at_top =
      static_cast<uint64_t>(static_cast<double>(big_pages) * rules.top_order_share) >> high;
  counts.blocks[high] = at_top;
  const uint64_t rest = big_pages - (at_top << high);
  // The rest goes below the top order, so that the top keeps the share of topOrderShare.
  if (high == low) {
    counts.blocks[low] += rest >> low;
  } else {
    spread(counts, rest, high - 1, low);
  }
  uint64_t small = free_pages;
  for (int order = low; order <= high; order++) small -= counts.blocks[order] << order;
  spread(counts, small, std::min(low - 1, high), 0);
  return counts;
}

struct Zones {
  Counts low, normal;
  uint64_t low_pages, normal_pages;  // free
};

// The low zone is used last, so most of it stays free, up to an eighth of all free memory.
Zones zones(const State& state) {
  const uint64_t page = state.machine.linux_kernel.page_size;
  const uint64_t free = free_bytes(state) / page;
  const uint64_t big = std::min((state.world.free_in_blocks + cma_free(state)) / page, free);
  const uint64_t low =
      std::min(state.machine.linux_kernel.low_zone_bytes / page / 16 * 15, free / 8);
  const uint64_t unit = kDriverBlock / page;
  const uint64_t low_big =
      free == 0 ? 0
                : static_cast<uint64_t>(static_cast<double>(low) * static_cast<double>(big) /
                                        static_cast<double>(free)) /
                      unit * unit;
  // low_big is rounded down, so that the rest may exceed what is free in the other zone.
  const uint64_t normal = free - low;
  return {divide(state, low, low_big), divide(state, normal, std::min(big - low_big, normal)), low,
          normal};
}

std::string row(const State& state, const char* zone, const Counts& counts) {
  char cell[64];
  std::snprintf(cell, sizeof cell, "Node 0, zone %8s ", zone);
  std::string text = cell;
  for (uint64_t order = 0; order < state.machine.linux_kernel.orders; order++) {
    std::snprintf(cell, sizeof cell, "%6llu ",
                  static_cast<unsigned long long>(counts.blocks[order]));
    text += cell;
  }
  return text + "\n";
}

std::string zone_text(const char* name, uint64_t free, uint64_t managed, const Watermarks& marks) {
  char text[512];
  std::snprintf(
      text, sizeof text,
      "Node 0, zone %8s\n  pages free     %llu\n        boost    0\n"
      "        min      %llu\n        low      %llu\n        high     %llu\n"
      "        spanned  %llu\n        present  %llu\n        managed  %llu\n",
      name, static_cast<unsigned long long>(free), static_cast<unsigned long long>(marks.min),
      static_cast<unsigned long long>(marks.low), static_cast<unsigned long long>(marks.high),
      static_cast<unsigned long long>(managed), static_cast<unsigned long long>(managed),
      static_cast<unsigned long long>(managed));
  return text;
}

}  // namespace

std::string buddyinfo_text(const State& state) {
  const LinuxKernel& linux_kernel = state.machine.linux_kernel;
  const Zones all = zones(state);
  const std::string low =
      linux_kernel.low_zone_bytes > 0 ? row(state, linux_kernel.low_zone, all.low) : "";
  return low + row(state, "Normal", all.normal);
}

std::string zoneinfo_text(const State& state) {
  const LinuxKernel& linux_kernel = state.machine.linux_kernel;
  const Zones all = zones(state);
  const uint64_t page = linux_kernel.page_size;
  const uint64_t total = state.machine.memory.total / page;
  const uint64_t low_managed = std::min(linux_kernel.low_zone_bytes / page, total);
  const Watermarks marks = watermarks(state);
  // Each zone has a part of the watermarks in proportion to its size.
  const auto part = [&](uint64_t pages) {
    const double share = static_cast<double>(pages) / static_cast<double>(total);
    const auto scaled = [&](uint64_t bytes) {
      return static_cast<uint64_t>(static_cast<double>(bytes) * share) / page;
    };
    return Watermarks{scaled(marks.min), scaled(marks.low), scaled(marks.high)};
  };
  const std::string low = low_managed > 0 ? zone_text(linux_kernel.low_zone, all.low_pages,
                                                      low_managed, part(low_managed))
                                          : "";
  const uint64_t normal = total - low_managed;
  return low + zone_text("Normal", all.normal_pages, normal, part(normal));
}

}  // namespace umasim

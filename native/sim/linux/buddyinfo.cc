// /proc/buddyinfo, pagetypeinfo and zoneinfo: free memory by zone, order and type of pageblock. The
// blocks sum to MemFree exactly.
#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "sim/linux/free_blocks.h"
#include "sim/linux/memory.h"
#include "sim/linux/procfs_texts.h"

namespace umasim {
namespace {

using Number = unsigned long long;

__attribute__((format(printf, 2, 3))) void add(std::string& text, const char* format, ...) {
  char piece[160];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(piece, sizeof piece, format, arguments);
  va_end(arguments);
  text += piece;
}

int orders_of(const State& state) { return static_cast<int>(state.machine.linux_kernel.orders); }

// The kernel counts no further, because it holds the lock of the zone.
constexpr uint64_t kMostCounted = 100000;

void add_type(std::string& text, const State& state, const char* zone, const char* type,
              const BlockCounts& counts) {
  add(text, "Node    0, zone %8s, type %12s ", zone, type);
  for (int order = 0; order < orders_of(state); order++) {
    const uint64_t blocks = counts.of[order];
    add(text, "%s%6llu ", blocks >= kMostCounted ? ">" : "",
        Number{std::min(blocks, kMostCounted)});
  }
  text += "\n";
}

BlockCounts movable(const ZoneBlocks& zone) {
  BlockCounts counts = zone.all;
  for (int order = 0; order < kMostOrders; order++) {
    counts.of[order] -= zone.unmovable.of[order] + zone.cma.of[order];
  }
  return counts;
}

// All pageblocks by type. Used memory that does not move is in zone Normal; the rest of it moves.
void add_pageblocks(std::string& text, const State& state, const std::vector<ZoneBlocks>& zones) {
  add(text, "\n%-23s %12s %12s %12s %12s %12s %12s \n", "Number of blocks type", "Unmovable",
      "Movable", "Reclaimable", "HighAtomic", "CMA", "Isolate");
  const World& world = state.world;
  const Memory& fixed = state.machine.memory;
  const uint64_t kernel = world.slab_unreclaimable + fixed.kernel_stack + fixed.page_tables +
                          fixed.percpu + fixed.driver_held + world.pools + world.gpu_host;
  const int order = pageblock_order(state.machine.linux_kernel);
  for (const ZoneBlocks& zone : zones) {
    const uint64_t all = zone.managed >> order;
    const auto blocks = [&](const BlockCounts& counts, uint64_t used) {
      uint64_t pages = used / state.machine.linux_kernel.page_size;
      for (int i = 0; i < kMostOrders; i++) pages += counts.of[i] << i;
      return std::min((pages + (uint64_t{1} << order) - 1) >> order, all);
    };
    const uint64_t unmovable = blocks(zone.unmovable, &zone == &zones.back() ? kernel : 0);
    const uint64_t cma = std::min(blocks(zone.cma, 0), all - unmovable);
    add(text, "Node 0, zone %8s %12llu %12llu %12d %12d %12llu %12d \n", zone.name,
        Number{unmovable}, Number{all - unmovable - cma}, 0, 0, Number{cma}, 0);
  }
}

// Processors of a GB10. Each zone has a list for each of them.
constexpr uint64_t kProcessors = 20;

void add_pagesets(std::string& text, uint64_t pages) {
  text += "  pagesets\n";
  for (uint64_t cpu = 0; cpu < kProcessors; cpu++) {
    const uint64_t count = pages / kProcessors + (cpu < pages % kProcessors ? 1 : 0);
    add(text,
        "    cpu: %llu\n              count:    %llu\n              high:     %llu\n"
        "              batch:    63\n  vm stats threshold: 125\n",
        Number{cpu}, Number{count}, Number{std::max<uint64_t>(count, 378)});
  }
}

}  // namespace

std::string buddyinfo_text(const State& state) {
  std::string text;
  for (const ZoneBlocks& zone : zones_of(state)) {
    add(text, "Node 0, zone %8s ", zone.name);
    for (int order = 0; order < orders_of(state); order++) {
      add(text, "%6llu ", Number{zone.all.of[order]});
    }
    text += "\n";
  }
  return text;
}

std::string pagetypeinfo_text(const State& state) {
  const int block_order = pageblock_order(state.machine.linux_kernel);
  const std::vector<ZoneBlocks> zones = zones_of(state);
  std::string text;
  add(text, "Page block order: %d\nPages per block:  %llu\n\n", block_order, 1ull << block_order);
  add(text, "%-43s ", "Free pages count per migrate type at order");
  for (int order = 0; order < orders_of(state); order++) add(text, "%6d ", order);
  text += "\n";
  for (const ZoneBlocks& zone : zones) {
    add_type(text, state, zone.name, "Unmovable", zone.unmovable);
    add_type(text, state, zone.name, "Movable", movable(zone));
    for (const char* type : {"Reclaimable", "HighAtomic"}) {
      add_type(text, state, zone.name, type, {});
    }
    add_type(text, state, zone.name, "CMA", zone.cma);
    add_type(text, state, zone.name, "Isolate", {});
  }
  add_pageblocks(text, state, zones);
  return text;
}

std::string zoneinfo_text(const State& state) {
  const uint64_t page = state.machine.linux_kernel.page_size;
  const uint64_t total = state.machine.memory.total / page;
  const Watermarks marks = watermarks(state);
  std::string text;
  for (const ZoneBlocks& zone : zones_of(state)) {
    // Each zone has a part of the watermarks in proportion to its size.
    const double share = static_cast<double>(zone.managed) / static_cast<double>(total);
    const auto part = [&](uint64_t bytes) {
      return Number{static_cast<uint64_t>(static_cast<double>(bytes) * share) / page};
    };
    add(text, "Node 0, zone %8s\n  pages free     %llu\n        boost    0\n", zone.name,
        Number{zone.free});
    add(text, "        min      %llu\n        low      %llu\n        high     %llu\n",
        part(marks.min), part(marks.low), part(marks.high));
    for (const char* size : {"spanned", "present", "managed"}) {
      add(text, "        %-8s %llu\n", size, Number{zone.managed});
    }
    const bool is_low = std::string(zone.name) != "Normal";
    add_pagesets(text, is_low ? 0 : state.world.cpu_lists / page);
    add(text, "  node_unreclaimable:  0\n  start_pfn:           %d\n", is_low ? 1 : 1 << 20);
  }
  return text;
}

}  // namespace umasim

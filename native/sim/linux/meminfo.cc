// /proc/meminfo: every line of Linux 6.17 on arm64, in its order.
#include <algorithm>
#include <cstdio>

#include "sim/linux/memory.h"
#include "sim/linux/procfs_texts.h"

namespace umasim {
namespace {

class Lines {
 public:
  void kb(const char* name, uint64_t bytes) { add(name, bytes / 1024, " kB\n"); }
  void count(const char* name, uint64_t value) { add(name, value, "\n"); }
  std::string take() { return std::move(text_); }

 private:
  void add(const char* name, uint64_t value, const char* unit) {
    char line[80];
    const std::string label = std::string(name) + ":";
    std::snprintf(line, sizeof line, "%-16s%8llu%s", label.c_str(),
                  static_cast<unsigned long long>(value), unit);
    text_ += line;
  }
  std::string text_;
};

// Sizes of the active LRU lists: most of the anonymous memory, the smaller part of files that were
// read once.
constexpr uint64_t active_anon(uint64_t bytes) { return bytes / 5 * 3; }
constexpr uint64_t active_file(uint64_t bytes) { return bytes / 3; }

}  // namespace

std::string meminfo_text(const State& state) {
  const Memory& fixed = state.machine.memory;
  const World& world = state.world;
  const uint64_t anon = anon_pages(state);
  const uint64_t locked = std::min(fixed.mlocked, anon);
  const uint64_t anon_lru = anon - locked + world.shmem;
  const uint64_t file_lru = world.file_cache + world.buffers;
  const uint64_t slab = world.slab_reclaimable + world.slab_unreclaimable;
  const uint64_t total = fixed.total;
  Lines out;
  out.kb("MemTotal", total);
  out.kb("MemFree", free_bytes(state));
  out.kb("MemAvailable", available_bytes(state));
  out.kb("Buffers", world.buffers);
  out.kb("Cached", world.file_cache + world.shmem);
  out.kb("SwapCached", 0);
  out.kb("Active", active_anon(anon_lru) + active_file(file_lru));
  out.kb("Inactive", anon_lru - active_anon(anon_lru) + file_lru - active_file(file_lru));
  out.kb("Active(anon)", active_anon(anon_lru));
  out.kb("Inactive(anon)", anon_lru - active_anon(anon_lru));
  out.kb("Active(file)", active_file(file_lru));
  out.kb("Inactive(file)", file_lru - active_file(file_lru));
  out.kb("Unevictable", locked);
  out.kb("Mlocked", locked);
  out.kb("SwapTotal", fixed.swap_total);
  out.kb("SwapFree", fixed.swap_total - swap_used(state));
  out.kb("Zswap", 0);
  out.kb("Zswapped", 0);
  out.kb("Dirty", world.file_dirty);
  out.kb("Writeback", 0);
  out.kb("AnonPages", anon);
  out.kb("Mapped", world.file_mapped + world.shmem / 2);
  out.kb("Shmem", world.shmem);
  out.kb("KReclaimable", world.slab_reclaimable);
  out.kb("Slab", slab);
  out.kb("SReclaimable", world.slab_reclaimable);
  out.kb("SUnreclaim", world.slab_unreclaimable);
  out.kb("KernelStack", fixed.kernel_stack);
  out.kb("PageTables", fixed.page_tables);
  out.kb("SecPageTables", 0);
  out.kb("NFS_Unstable", 0);
  out.kb("Bounce", 0);
  out.kb("WritebackTmp", 0);
  out.kb("CommitLimit", (total - hugetlb(state)) / 2 + fixed.swap_total);
  out.kb("Committed_AS", (anon + world.swapped) / 2 * 3 + world.shmem);
  constexpr uint64_t kVmalloc = 135288315904ull * 1024;  // arm64 with 48-bit addresses
  out.kb("VmallocTotal", kVmalloc);
  out.kb("VmallocUsed", fixed.kernel_stack + (64ull << 20));
  out.kb("VmallocChunk", 0);
  out.kb("Percpu", fixed.percpu);
  out.kb("HardwareCorrupted", 0);
  out.kb("AnonHugePages", 0);
  out.kb("ShmemHugePages", 0);
  out.kb("ShmemPmdMapped", 0);
  out.kb("FileHugePages", 0);
  out.kb("FilePmdMapped", 0);
  out.kb("CmaTotal", fixed.cma_total);
  out.kb("CmaFree", cma_free(state));
  out.count("HugePages_Total", fixed.huge_pages_total);
  out.count("HugePages_Free", fixed.huge_pages_free);
  out.count("HugePages_Rsvd", 0);
  out.count("HugePages_Surp", 0);
  out.kb("Hugepagesize", fixed.huge_page_size);
  out.kb("Hugetlb", hugetlb(state));
  return out.take();
}

}  // namespace umasim

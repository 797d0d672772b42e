// /proc/vmstat.
#include "sim/linux/memory.h"
#include "sim/linux/procfs_texts.h"

namespace umasim {
namespace {

void line(std::string& text, const char* name, uint64_t value) {
  text += std::string(name) + " " + std::to_string(value) + "\n";
}

}  // namespace

std::string vmstat_text(const State& state) {
  const Memory& fixed = state.machine.memory;
  const World& world = state.world;
  const Counters& counters = world.counters;
  const uint64_t page = state.machine.linux_kernel.page_size;
  std::string text;
  line(text, "nr_free_pages", free_bytes(state) / page);
  line(text, "nr_mlock", fixed.mlocked / page);
  line(text, "nr_free_cma", cma_free(state) / page);
  line(text, "nr_slab_reclaimable", world.slab_reclaimable / page);
  line(text, "nr_slab_unreclaimable", world.slab_unreclaimable / page);
  line(text, "nr_anon_pages", anon_pages(state) / page);
  line(text, "nr_mapped", world.file_mapped / page);
  line(text, "nr_file_pages", (world.file_cache + world.buffers + world.shmem) / page);
  line(text, "nr_dirty", world.file_dirty / page);
  line(text, "nr_writeback", 0);
  line(text, "nr_shmem", world.shmem / page);
  line(text, "nr_dirty_threshold", dirty_limit(state) / page);
  line(text, "nr_dirty_background_threshold", dirty_limit(state) / 2 / page);
  line(text, "pswpin", 0);
  line(text, "pswpout", world.swapped / page);
  line(text, "allocstall_dma", 0);
  line(text, "allocstall_normal", counters.allocstall);
  line(text, "allocstall_movable", 0);
  line(text, "pgmajfault", counters.pgmajfault);
  line(text, "pgsteal_kswapd", counters.pgsteal_kswapd);
  line(text, "pgsteal_direct", counters.pgsteal_direct);
  line(text, "pgscan_kswapd", counters.pgscan_kswapd);
  line(text, "pgscan_direct", counters.pgscan_direct);
  line(text, "drop_pagecache", counters.drop_pagecache);
  line(text, "drop_slab", counters.drop_slab);
  line(text, "oom_kill", counters.oom_kill);
  line(text, "compact_stall", counters.compact_stall);
  line(text, "compact_fail", counters.compact_fail);
  line(text, "compact_success", counters.compact_success);
  return text;
}

}  // namespace umasim

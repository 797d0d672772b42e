// The files of the NVIDIA driver: its version, its parameters and the counts of its memory pools.
#include <cstdio>

#include "sim/linux/procfs_texts.h"

namespace umasim {
namespace {

// Pages of an order in the pool of that order. The largest pages come first; the remainder is in
// the smaller pools.
uint64_t pool_pages(const State& state, int order) {
  const uint64_t page = state.machine.linux_kernel.page_size;
  uint64_t pages = state.world.pools / page;
  for (const int pool : {9, 4, 0}) {
    const uint64_t count = pages >> pool;
    if (pool == order) return count;
    pages -= count << pool;
  }
  return 0;
}

}  // namespace

std::string driver_version_text(const State& state) {
  char text[256];
  std::snprintf(text, sizeof text,
                "NVRM version: NVIDIA UNIX Open Kernel Module for %s  %s  Release Build  "
                "(simulated)\nGCC version:  simulated\n",
                state.machine.linux_kernel.architecture, state.machine.driver.version);
  return text;
}

std::string driver_params_text(const State& state) {
  std::string text = "ModifyDeviceFiles: 1\nInitializeSystemMemoryAllocations: 1\n";
  const int64_t pools = state.machine.driver.system_memory_pools;
  if (pools != kNoPools) text += "EnableSystemMemoryPools: " + std::to_string(pools) + "\n";
  return text + "RegistryDwords: \"\"\n";
}

std::string pool_count_text(const State& state, int order) {
  const uint64_t pages = pool_pages(state, order);
  return pages == 0 ? std::string() : "1 " + std::to_string(pages) + "\n";
}

}  // namespace umasim

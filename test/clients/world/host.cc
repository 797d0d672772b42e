// Scenarios: the kernel's files, and the effects of drop_caches, compaction and other processes.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "harness.h"

namespace world {
namespace {

constexpr const char* kDrop = "/proc/sys/vm/drop_caches";

const char* const kMachines[] = {"gb10",
                                 "gb10-590-pools",
                                 "gb10-cached",
                                 "gb10-fragmented",
                                 "gb10-kho",
                                 "gb10-busy",
                                 "gb10-hugepages",
                                 "gb10-nvml-success",
                                 "thor",
                                 "orin",
                                 "gh200",
                                 "h200",
                                 "rtx3060-fallback",
                                 "no-driver"};

// Free bytes of all zones, and the part of them in blocks of at least `bytes`.
void buddies(uint64_t page, uint64_t bytes, uint64_t* all, uint64_t* big) {
  std::istringstream text(read("/proc/buddyinfo"));
  *all = *big = 0;
  for (std::string line; std::getline(text, line);) {
    std::istringstream fields(line.substr(line.find("zone") + 4));
    std::string zone;
    fields >> zone;
    uint64_t blocks, size = page;
    for (; fields >> blocks; size *= 2) {
      *all += blocks * size;
      if (size >= bytes) *big += blocks * size;
    }
  }
}

void consistent() {
  const char* const parts[] = {"MemFree",    "Buffers",       "Cached",     "SwapCached",
                               "AnonPages",  "KReclaimable",  "SUnreclaim", "KernelStack",
                               "PageTables", "SecPageTables", "Percpu",     "Hugetlb"};
  for (const char* name : kMachines) {
    boot(name, 1);
    uint64_t sum = 0, all, big;
    for (const char* part : parts) sum += meminfo(part);
    EXPECT(sum <= meminfo("MemTotal"), "%s", name);
    EXPECT(meminfo("MemAvailable") < meminfo("MemTotal"), "%s", name);
    buddies(std::strcmp(name, "gh200") == 0 ? 65536 : 4096, 2 << 20, &all, &big);
    EXPECT(all == meminfo("MemFree"), "%s: blocks %llu", name, (unsigned long long)all);
    EXPECT(read("/proc/meminfo").find("CmaFree:") != std::string::npos);
  }
}

// The rows of /proc/pagetypeinfo add up to those of buddyinfo, as far as the kernel counts.
void types_add_up() {
  for (const char* more : {"", "contiguity.share 0.99\ncontiguity.compactable 0.5\n",
                           "memory.cmaFree 5368709120\ncontiguity.compactable 0\n"}) {
    boot("gb10-kho", 1, more);
    std::istringstream types(read("/proc/pagetypeinfo")), buddies(read("/proc/buddyinfo"));
    std::string line;
    while (line.rfind("Free pages count", 0) != 0) EXPECT(!!std::getline(types, line));
    for (std::string zone; std::getline(buddies, zone);) {
      uint64_t sums[16] = {};
      bool counted = true;
      for (int type = 0; type < 6; type++) {
        EXPECT(!!std::getline(types, line));
        EXPECT(line.substr(16, 8) == zone.substr(13, 8), "%s", line.c_str());
        counted = counted && line.find('>') == std::string::npos;
        std::istringstream cells(line.substr(line.find("type") + 17));
        uint64_t blocks;
        for (int order = 0; cells >> blocks; order++) sums[order] += blocks;
      }
      std::istringstream cells(zone.substr(22));
      uint64_t blocks;
      for (int order = 0; counted && cells >> blocks; order++) {
        EXPECT(sums[order] == blocks, "%s: order %d", more, order);
      }
    }
  }
}

// The pages in lists of the processors: no part of MemFree, and taken back by who needs memory.
void cpu_lists() {
  constexpr const char* kLists = "memory.freeInCpuLists 2147483648\n";
  const auto listed = [] {
    uint64_t pages = 0;
    std::istringstream text(read("/proc/zoneinfo"));
    for (std::string line; std::getline(text, line);) {
      const size_t at = line.find(" count: ");
      if (at != std::string::npos) pages += std::strtoull(line.c_str() + at + 8, nullptr, 10);
    }
    return pages * 4096;
  };
  boot("gb10", 1000);
  const uint64_t free_before = meminfo("MemFree"), available = meminfo("MemAvailable");
  EXPECT(listed() == 0);
  boot("gb10", 1000, kLists);
  EXPECT(listed() == 2 * kGiB);
  EXPECT(free_before - meminfo("MemFree") == 2 * kGiB);
  EXPECT(available - meminfo("MemAvailable") == 2 * kGiB);
  void* memory = allocate(10 * kGiB);
  EXPECT(listed() == 2 * kGiB);  // enough was free without them
  EXPECT(cudaFree(memory) == 0);
  memory = allocate(free_before + kGiB);
  EXPECT(listed() == 0);
  EXPECT(cudaFree(memory) == 0);
  const uint64_t lowest = meminfo("MemFree");
  EXPECT(umasim_write(kDrop, "1", 1) == 1);
  EXPECT(listed() == 2 * kGiB);  // what was freed went there first
  EXPECT(meminfo("MemFree") > lowest);
}

void drop_levels() {
  boot("gb10-cached", 1000);
  const uint64_t free_before = meminfo("MemFree"), available = meminfo("MemAvailable");
  const uint64_t cached = meminfo("Cached"), mapped = meminfo("Mapped");
  EXPECT(umasim_write(kDrop, "1\n", 2) == 2);
  const uint64_t gained = meminfo("MemFree") - free_before;
  EXPECT(gained > cached - mapped - kGiB && gained <= cached + kGiB / 2);
  // Mapped pages stay, and MemAvailable hardly changes.
  EXPECT(meminfo("Cached") >= mapped - meminfo("Shmem"));
  const double moved =
      static_cast<double>(meminfo("MemAvailable")) - static_cast<double>(available);
  EXPECT(moved < kGiB && moved > -0.1 * kGiB, "moved by %.0f", moved);
  EXPECT(vmstat("drop_pagecache") == 1 && vmstat("drop_slab") == 0);
  EXPECT(umasim_write(kDrop, "3", 1) == 1 && vmstat("drop_slab") == 1);
  for (const char* wrong : {"0", "5", "x", "", "1 2", "33"}) {
    EXPECT(umasim_write(kDrop, wrong, std::strlen(wrong)) == -EINVAL, "%s", wrong);
  }
  EXPECT(umasim_write("/proc/sys/vm/compact_memory", "1", 1) == 1);
  const std::string all = record();
  EXPECT(all.find("\"level\":1") != std::string::npos &&
         all.find("\"level\":3") != std::string::npos);
  EXPECT(all.find("compact_memory") != std::string::npos);
}

void rights() {
  boot("gb10-590-pools", 1000);
  char buffer[256];
  EXPECT(umasim_read(kDrop, buffer, sizeof buffer) == -EACCES);
  EXPECT(umasim_read("/proc/nothing", buffer, sizeof buffer) == -ENOENT);
  EXPECT(umasim_write("/proc/meminfo", "1", 1) == -EACCES);
  EXPECT(umasim_list("/sys/kernel/debug/shrinker", buffer, sizeof buffer) > 0);
  if (geteuid() != 0) {
    std::fprintf(stderr, "not root: what root may do was not looked at\n");
    return;
  }
  EXPECT(seteuid(65534) == 0);
  EXPECT(umasim_write(kDrop, "1", 1) == -EACCES);
  EXPECT(umasim_list("/sys/kernel/debug/shrinker", buffer, sizeof buffer) == -EACCES);
  EXPECT(umasim_read("/proc/pagetypeinfo", buffer, sizeof buffer) == -EACCES);
  EXPECT(umasim_read("/sys/kernel/debug/shrinker/nv-sysmem-alloc-node-0-order-9-63/count", buffer,
                     sizeof buffer) == -EACCES);
  EXPECT(meminfo("MemTotal") > 0);
  EXPECT(seteuid(0) == 0);
}

void watermarks_count() {
  // A larger min_free_kbytes lowers MemAvailable and not MemFree (docs/simulated-machine.md [1]).
  boot("gb10", 1);
  const uint64_t free_before = meminfo("MemFree"), available = meminfo("MemAvailable");
  boot("gb10", 1, "memory.minFree 4294967296\n");
  EXPECT(meminfo("MemFree") == free_before);
  const uint64_t lost = available - meminfo("MemAvailable");
  EXPECT(lost > 5 * kGiB && lost < 10 * kGiB, "lost %.1f GiB", (double)lost / kGiB);
}

void neighbour_grows() {
  boot("gb10", 100,
       "processes.0.name neighbour\nprocesses.0.pid 4200001\nprocesses.0.gpuBytes 0\n"
       "processes.0.anonBytes 0\nevents.0.atMs 40000\nevents.0.what anon\n"
       "events.0.bytes 42949672960\nevents.0.overMs 40000\nevents.0.process neighbour\n"
       "events.1.atMs 200000\nevents.1.what exit\nevents.1.process neighbour\n");
  const uint64_t before = meminfo("AnonPages");
  const auto grown = [&] { return meminfo("AnonPages") - before; };
  for (int i = 0; i < 2000 && grown() <= 5 * kGiB; i++) wait_ms(1);
  const uint64_t middle = grown();
  EXPECT(middle > 5 * kGiB && middle < 39 * kGiB, "%.1f GiB in the middle", (double)middle / kGiB);
  for (int i = 0; i < 2000 && grown() < 40 * kGiB; i++) wait_ms(1);
  EXPECT(grown() == 40 * kGiB);
  EXPECT(read("/proc/4200001/comm") == "neighbour\n");
  for (int i = 0; i < 5000 && grown() != 0; i++) wait_ms(1);
  EXPECT(grown() == 0);
}

void cache_floods() {
  boot("gb10", 1000,
       "events.0.atMs 0\nevents.0.what fileCache\nevents.0.bytes 300000000000\n"
       "events.0.bytesPerSecond 3000000000\n");
  const uint64_t available = meminfo("MemAvailable");
  wait_ms(130);
  // 300 GB were read into 128 GB: new cache replaced old cache, and only cache was reclaimed.
  EXPECT(meminfo("MemFree") < 2 * kGiB);
  EXPECT(meminfo("Cached") > 100 * kGiB);
  EXPECT(meminfo("MemAvailable") + 2 * kGiB > available);
  EXPECT(vmstat("pgsteal_kswapd") > 0 && !wedged());
}

long read_status(const char* path) {
  char buffer[64];
  return umasim_read(path, buffer, sizeof buffer);
}

void replaced_files() {
  boot("gb10", 100,
       "files.0.path /proc/meminfo\nfiles.0.text MemTotal:  \\0 \\\\ kB\\n\\rend\n"
       "files.1.path /proc/pressure/memory\nfiles.1.missing true\n"
       "files.2.path /proc/buddyinfo\nfiles.2.error EACCES\n"
       "files.3.path /proc/vmstat\nfiles.3.hangMs 3000\n"
       "files.4.path /sys/firmware/added\nfiles.4.text \n"
       "files.5.path /proc/zoneinfo\nfiles.5.text x\n"
       "files.6.path /proc/uptime\nfiles.6.hangMs 1000000000000\n");
  const std::string nul(1, '\0');
  EXPECT(read("/proc/meminfo") == "MemTotal:  " + nul + " \\ kB\n\rend");
  EXPECT(read_status("/proc/pressure/memory") == -ENOENT);
  EXPECT(read_status("/proc/buddyinfo") == -EACCES);
  EXPECT(read("/sys/firmware/added").empty() && read("/proc/zoneinfo") == "x");
  EXPECT(umasim_write("/proc/zoneinfo", "1", 1) == -EACCES);
  char names[4096];
  EXPECT(umasim_list("/proc/pressure", names, sizeof names) == -ENOENT);
  const long length = umasim_list("/sys/firmware", names, sizeof names);
  EXPECT(length > 0 && std::string(names, static_cast<size_t>(length)) == "added\n");
  // A file may answer late or never, and no other file waits for it.
  const int reader = start([] { read_status("/proc/uptime"); });
  timespec begun, ended;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  EXPECT(vmstat("nr_free_pages") > 0);
  clock_gettime(CLOCK_MONOTONIC, &ended);
  const long ms = (ended.tv_sec - begun.tv_sec) * 1000 + (ended.tv_nsec - begun.tv_nsec) / 1000000;
  EXPECT(ms >= 29, "%ld ms for 3 s of the machine's clock", ms);
  EXPECT(read_status("/proc/zoneinfo") == 1);
  EXPECT(wait_for(reader, 5) == -1);
  kill_and_wait(reader);
}

void impossible_files() {
  const auto refusal = [&](const std::string& more) {
    return boot_error("gb10", "files.0.path /proc/meminfo\n" + more);
  };
  EXPECT(refusal("files.0.error ENOENT\n").find("expected one of EACCES") != std::string::npos);
  EXPECT(refusal("files.0.text x\nfiles.0.missing true\n").find("more than one") !=
         std::string::npos);
  EXPECT(refusal("files.0.text " + std::string(70000, 'x') + "\n").find("65536") !=
         std::string::npos);
}

}  // namespace

const Row kHostScenarios[] = {{"host.consistent", consistent},
                              {"host.types_add_up", types_add_up},
                              {"host.cpu_lists", cpu_lists},
                              {"host.drop_levels", drop_levels},
                              {"host.rights", rights},
                              {"host.watermarks", watermarks_count},
                              {"host.neighbour_grows", neighbour_grows},
                              {"host.cache_floods", cache_floods},
                              {"host.replaced_files", replaced_files},
                              {"host.impossible_files", impossible_files},
                              {nullptr, nullptr}};

}  // namespace world

// Scenarios: the counters that each kind of memory moves, and the ways to give memory back.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness.h"

namespace world {
namespace {

constexpr char kCurrent[] = "/sys/fs/cgroup/user.slice/umaprobe.scope/memory.current";
constexpr char kReclaim[] = "/sys/fs/cgroup/user.slice/umaprobe.scope/memory.reclaim";
constexpr char kRootReclaim[] = "/sys/fs/cgroup/memory.reclaim";
constexpr char kDrop[] = "/proc/sys/vm/drop_caches";

uint64_t charged() { return std::strtoull(read(kCurrent).c_str(), nullptr, 10); }

uint64_t charged_as(const char* name) {
  const std::string text = "\n" + read("/sys/fs/cgroup/user.slice/umaprobe.scope/memory.stat");
  const size_t at = text.find(std::string("\n") + name + " ");
  EXPECT(at != std::string::npos, "%s", name);
  return std::strtoull(text.c_str() + at + std::strlen(name) + 2, nullptr, 10);
}

uint64_t resident(const char* path = "/proc/self/statm") {
  unsigned long long size = 0, pages = 0;
  EXPECT(std::sscanf(read(path).c_str(), "%llu %llu", &size, &pages) == 2 && size >= pages);
  return pages * 4096;
}

long write(const char* path, const char* text) {
  return umasim_write(path, text, std::strlen(text));
}

void kinds_move_counters() {
  boot("gb10", 1000);
  EXPECT(read("/proc/self/cgroup") == "0::/user.slice/umaprobe.scope\n");
  EXPECT(read("/sys/fs/cgroup/user.slice/umaprobe.scope/memory.max") == "max\n");
  EXPECT(cuda_free() > 0);  // the context
  const uint64_t rss = resident(), before = charged();
  // cudaMalloc and pinned memory count neither as resident nor as charged.
  void* memory = allocate(10 * kGiB);
  EXPECT(cudaMemset(memory, 1, 10 * kGiB) == 0 && resident() == rss && charged() == before);
  EXPECT(cudaHostAlloc(&memory, kGiB, 2) == 0 && resident() == rss && charged() == before);
  // Managed memory is charged as kernel memory, and does not count as resident.
  EXPECT(cudaMallocManaged(&memory, 5 * kGiB, 1) == 0 && charged() == before);
  EXPECT(cudaMemset(memory, 1, 3 * kGiB) == 0 && charged() - before == 3 * kGiB);
  EXPECT(resident() == rss && charged_as("kernel") == 3 * kGiB);
  // System memory counts in both.
  const uint64_t anon = charged_as("anon");
  memory = umasim_map(kGiB);
  EXPECT(resident() == rss && cudaMemset(memory, 1, kGiB) == 0);
  EXPECT(resident() - rss == kGiB && charged() - before == 4 * kGiB);
  EXPECT(charged_as("anon") - anon == kGiB);
  const std::string mine = "/proc/" + std::to_string(getpid()) + "/statm";
  EXPECT(resident(mine.c_str()) == resident());
  umasim_unmap(memory, kGiB);
  EXPECT(resident() == rss && charged() - before == 3 * kGiB);
  char text[64];
  EXPECT(umasim_read("/proc/1/statm", text, sizeof text) == -ENOENT);
}

void scripted_processes_have_counters() {
  boot("gb10-busy", 1000);
  EXPECT(resident("/proc/4200017/statm") > 6 * kGiB);
  EXPECT(read("/proc/4200017/cgroup").rfind("0::/", 0) == 0);
}

void cgroup_gives_back() {
  boot("gb10-cached", 1000);
  const uint64_t free_before = meminfo("MemFree"), before = charged();
  EXPECT(charged_as("file") > 90 * kGiB);
  EXPECT(write(kReclaim, "10G") == 3 && meminfo("MemFree") - free_before == 10 * kGiB);
  EXPECT(before - charged() == 10 * kGiB);
  EXPECT(write(kReclaim, "4096\n") == 5);
  EXPECT(write(kReclaim, "1M swappiness=0") == 15);
  for (const char* wrong : {"", "much", "-1", "1G of it"}) {
    EXPECT(write(kReclaim, wrong) == -EINVAL, "%s", wrong);
  }
  // Less than requested: the call says so, and the part found is free.
  EXPECT(write(kReclaim, "200G") == -EAGAIN);
  EXPECT(meminfo("MemFree") - free_before > 90 * kGiB && charged() < 2 * kGiB);
  EXPECT(record().find("\"what\":\"memory.reclaim\"") != std::string::npos);
  char text[64];
  EXPECT(umasim_read(kReclaim, text, sizeof text) == -EACCES);
  // cudaMalloc memory cannot be reclaimed.
  allocate(20 * kGiB);
  EXPECT(write(kReclaim, "1G") == -EAGAIN);
}

void reclaim_needs_rights() {
  if (geteuid() != 0) return;
  boot("gb10-cached", 1000);
  EXPECT(write(kRootReclaim, "1G") == 2);
  EXPECT(umasim_machine() != nullptr);  // maps the state file before setuid
  const int pid = start([] {
    meminfo("MemFree");
    EXPECT(setuid(65534) == 0);
    EXPECT(write(kRootReclaim, "1G") == -EACCES && write(kDrop, "1") == -EACCES);
    EXPECT(write(kReclaim, "1G") == 2);  // its own cgroup
  });
  EXPECT(wait_for(pid, 10000) == 0);
}

void sync_writes() {
  boot("gb10", 100,
       "events.0.atMs 0\nevents.0.what fileDirty\nevents.0.bytes 4294967296\n"
       "timing.writebackMsPerGiB 100000\n");
  const uint64_t dirty = meminfo("Dirty");
  EXPECT(dirty > 2 * kGiB);
  // Dirty pages cannot be dropped.
  EXPECT(write(kDrop, "1") == 1 && meminfo("Cached") > 2 * kGiB);
  EXPECT(umasim_sync() == 0 && meminfo("Dirty") == 0);
  EXPECT(write(kDrop, "1") == 1 && meminfo("Cached") < kGiB);
  // Mapped pages stay.
  EXPECT(meminfo("Cached") >= 768ull << 20 && umasim_sync() == 0);
}

void levels() {
  boot("gb10-590-residue", 100);
  const uint64_t free_before = meminfo("MemFree"), slab = meminfo("SReclaimable");
  EXPECT(recorded("poolBytes") == 64.0 * kGiB);
  const uint64_t cached = meminfo("Cached");
  EXPECT(write(kDrop, "1") == 1);
  // Level 1 gives the page cache back, and none of the process's memory.
  EXPECT(meminfo("MemFree") - free_before < cached && recorded("poolBytes") == 64.0 * kGiB);
  EXPECT(meminfo("SReclaimable") == slab);
  const uint64_t available = meminfo("MemAvailable");
  EXPECT(write(kDrop, "2") == 1 && recorded("poolBytes") == 0);
  EXPECT(meminfo("MemAvailable") - available >= 63 * kGiB && meminfo("SReclaimable") < slab);
  EXPECT(write(kDrop, "3") == 1 && meminfo("MemAvailable") > 100 * kGiB);
}

}  // namespace

const Row kCounterScenarios[] = {{"counters.kinds", kinds_move_counters},
                                 {"counters.scripted", scripted_processes_have_counters},
                                 {"counters.cgroup_gives_back", cgroup_gives_back},
                                 {"counters.rights", reclaim_needs_rights},
                                 {"counters.sync", sync_writes},
                                 {"counters.levels", levels},
                                 {nullptr, nullptr}};

}  // namespace world

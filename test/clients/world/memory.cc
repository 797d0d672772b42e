// Scenarios: allocations of one process.
#include <unistd.h>

#include <cstring>
#include <vector>

#include "harness.h"

namespace world {
namespace {

void free_is_memfree() {
  boot("gb10", 100);
  size_t free_bytes, total;
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == 0);
  EXPECT(free_bytes == meminfo("MemFree") && total == meminfo("MemTotal"));
  const uint64_t anon = meminfo("AnonPages"), available = meminfo("MemAvailable");
  void* memory = allocate(10 * kGiB);
  EXPECT(free_bytes - cuda_free() == 10 * kGiB);
  EXPECT(available - meminfo("MemAvailable") == 10 * kGiB);
  EXPECT(meminfo("AnonPages") == anon);  // in no line of meminfo
  EXPECT(cudaFree(memory) == 0 && cuda_free() == free_bytes);
}

void cache_gives_way() {
  boot("gb10-cached", 100);
  EXPECT(cuda_free() < 8 * kGiB);
  const uint64_t cached = meminfo("Cached");
  const double waited = pressure_full_ms();
  allocate(100 * kGiB);
  EXPECT(meminfo("Cached") < cached - 85 * kGiB);
  EXPECT(vmstat("pgsteal_direct") > 85 * kGiB / 4096 && vmstat("allocstall_normal") > 0);
  EXPECT(full_pressure_reaches(waited + 50), "%.1f ms", pressure_full_ms());
  EXPECT(!wedged());
}

void pools_keep_it() {
  boot("gb10-590-pools", 100, "driver.poolBytes 0\n");
  const uint64_t free_before = meminfo("MemFree");
  const int pid = start([] { allocate(64 * kGiB); });
  EXPECT(wait_for(pid, 20000) == 0);
  EXPECT(free_before - meminfo("MemFree") >= 64 * kGiB);
  EXPECT(umasim_write("/proc/sys/vm/drop_caches", "1", 1) == 1);
  EXPECT(free_before > meminfo("MemFree") + 50 * kGiB);
  const std::string count =
      read("/sys/kernel/debug/shrinker/nv-sysmem-alloc-node-0-order-9-63/count");
  EXPECT(count.rfind("1 ", 0) == 0 && std::atoi(count.c_str() + 2) >= 64 * 512, "%s",
         count.c_str());
  // The next process takes memory from the pools; MemFree does not change.
  const uint64_t before = meminfo("MemFree");
  const int warm = start([] { allocate(40 * kGiB); });
  EXPECT(wait_for(warm, 20000) == 0 && meminfo("MemFree") == before);
  EXPECT(umasim_write("/proc/sys/vm/drop_caches", "2", 1) == 1);
  EXPECT(meminfo("MemFree") + kGiB / 2 > free_before);
}

void fragments_fail() {
  boot("gb10-fragmented", 1000);
  EXPECT(meminfo("MemAvailable") > 115 * kGiB);
  void* memory;
  EXPECT(cudaMalloc(&memory, 8 * kGiB) == umaprobe::kCudaOutOfMemory);
  EXPECT(vmstat("compact_fail") > 0 || vmstat("compact_stall") > 0);
  EXPECT(umasim_write("/proc/sys/vm/drop_caches", "3", 1) == 1);
  EXPECT(umasim_write("/proc/sys/vm/compact_memory", "1", 1) == 1);
  EXPECT(cudaMalloc(&memory, 8 * kGiB) == umaprobe::kCudaOutOfMemory);
  // Managed memory needs no large blocks.
  EXPECT(cudaMallocManaged(&memory, 8 * kGiB, 1) == 0 && cudaMemset(memory, 1, 8 * kGiB) == 0);
  EXPECT(!wedged() && recorded("allocationsFailed") == 2);
}

// How much loads follows from what is movable. No share of large blocks is a cliff.
void movable_pages_decide() {
  const auto loads = [](const char* share, const char* movable) {
    boot("gb10", 1000,
         std::string("exhaustion.outcome error\ncontiguity.share ") + share +
             "\ncontiguity.compactable " + movable + "\n");
    uint64_t bytes = 0;
    for (void* memory; cudaMalloc(&memory, kGiB / 4) == 0;) bytes += kGiB / 4;
    return static_cast<double>(bytes) / kGiB;
  };
  for (const char* share : {"0.245", "0.255"}) {
    const double nothing = loads(share, "0"), half = loads(share, "0.5"), all = loads(share, "1");
    EXPECT(nothing > 30 && nothing < 38, "%s: %.1f GiB", share, nothing);
    EXPECT(half > 65 && half < 85, "%s: %.1f GiB", share, half);
    EXPECT(all > 104 && all < 118, "%s: %.1f GiB", share, all);
  }
  // Compaction makes blocks of what is movable, and of the rest none; an allocation waits for it.
  boot("gb10", 1000, "contiguity.share 0.25\ncontiguity.compactable 0.5\n");
  const uint64_t half_of_small = meminfo("MemFree") / 8 * 3;
  const double waited = pressure_full_ms();
  allocate(meminfo("MemFree") / 4 + half_of_small / 2);
  EXPECT(vmstat("compact_success") > 0);
  EXPECT(full_pressure_reaches(waited + 50), "%.1f ms", pressure_full_ms());
}

void phantom_is_no_memory() {
  boot("gb10-kho", 1000, "exhaustion.outcome error\n");
  EXPECT(meminfo("CmaTotal") == 0 && meminfo("CmaFree") == 4761ull << 21);
  const uint64_t available = meminfo("MemAvailable");
  void* memory;
  EXPECT(cudaMalloc(&memory, available - 2 * kGiB) == umaprobe::kCudaOutOfMemory);
  EXPECT(cudaMalloc(&memory, available - 12 * kGiB) == 0);
}

void managed_is_lazy() {
  boot("gb10", 1000);
  const size_t before = cuda_free();
  char* memory;
  EXPECT(cudaMallocManaged(reinterpret_cast<void**>(&memory), 20 * kGiB, 1) == 0);
  EXPECT(cuda_free() == before);
  EXPECT(cudaMemset(memory + kGiB, 7, 3 * kGiB) == 0);
  EXPECT(before - cuda_free() == 3 * kGiB);
  EXPECT(cudaMemset(memory, 7, 2 * kGiB) == 0);  // the second GiB was touched before
  EXPECT(before - cuda_free() == 4 * kGiB);
  EXPECT(cudaFree(memory) == 0 && cuda_free() == before);
}

char byte_at(const char* memory, uint64_t at) {
  char back = 0;
  EXPECT(cudaMemcpy(&back, memory + at, 1, 2) == 0);
  return back;
}

void contents() {
  boot("gb10", 1000);
  char* memory = static_cast<char*>(allocate(20 * kGiB));
  EXPECT(byte_at(memory, 12345) == 0);
  EXPECT(cudaMemset(memory, 0x5a, 20 * kGiB) == 0);
  for (uint64_t at : {uint64_t{0}, kGiB - 1, 7 * kGiB + 3, 20 * kGiB - 1}) {
    EXPECT(byte_at(memory, at) == 0x5a);
  }
  EXPECT(cudaMemset(memory + kGiB + 5, 0x33, 3 * kGiB + 11) == 0);
  EXPECT(byte_at(memory, kGiB + 4) == 0x5a && byte_at(memory, kGiB + 5) == 0x33);
  EXPECT(byte_at(memory, 4 * kGiB + 15) == 0x33 && byte_at(memory, 4 * kGiB + 16) == 0x5a);
  const char text[] = "in the middle";
  EXPECT(cudaMemcpy(memory + 2 * kGiB, text, sizeof text, 1) == 0);
  EXPECT(std::memcmp(memory + 2 * kGiB, text, sizeof text) == 0);  // through the pointer
  EXPECT(byte_at(memory, 2 * kGiB - 1) == 0x33);
  EXPECT(cuMemsetD32_v2(reinterpret_cast<uintptr_t>(memory) + 4, 0x04030201, kGiB) == 0);
  unsigned word = 0;
  EXPECT(cudaMemcpy(&word, memory + 4 + kGiB, 4, 2) == 0 && word == 0x04030201);
  EXPECT(byte_at(memory, 4 + kGiB + 2) == 3);
  EXPECT(cudaMemset(memory, 0, 20 * kGiB) == 0 && byte_at(memory, 2 * kGiB) == 0);
  char big[64];
  EXPECT(cudaMemcpy(big, memory + 20 * kGiB - 32, 64, 2) == umaprobe::kCudaInvalidValue);
  EXPECT(cudaMemset(memory + 20 * kGiB, 1, 1) == umaprobe::kCudaInvalidValue);
  EXPECT(cudaFree(memory + 1) == umaprobe::kCudaInvalidValue);
}

void own_memory() {
  boot("h200", 1000);
  const uint64_t host = meminfo("MemFree");
  size_t free_bytes, total;
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == 0);
  EXPECT(total == 150109880320 && total - free_bytes == 552402944);
  void* memory;
  EXPECT(cudaMalloc(&memory, total) == umaprobe::kCudaOutOfMemory);
  EXPECT(cudaGetLastError() == umaprobe::kCudaOutOfMemory && cudaPeekAtLastError() == 0);
  EXPECT(cudaMalloc(&memory, 100 * kGiB) == 0 && free_bytes - cuda_free() == 100 * kGiB);
  EXPECT(meminfo("MemFree") == host);
  EXPECT(cudaDeviceReset() == 0 && cuda_free() == free_bytes);
}

void spills() {
  boot("rtx3060-fallback", 1000);
  const uint64_t host = meminfo("MemFree");
  void* memory;
  EXPECT(cudaMalloc(&memory, 13 * kGiB) == 0);
  const uint64_t spilled = host - meminfo("MemFree");
  EXPECT(spilled > kGiB && spilled < 3 * kGiB && cuda_free() == 0);
  EXPECT(cudaMalloc(&memory, 100 * kGiB) == umaprobe::kCudaOutOfMemory);
}

void limits() {
  boot("orin", 1000);
  void* memory;
  EXPECT(cudaMalloc(&memory, 55 * kGiB / 10) == umaprobe::kCudaOutOfMemory);
  EXPECT(cudaMalloc(&memory, 2 * kGiB) == 0);
  EXPECT(cudaMalloc(&memory, 2 * kGiB) == umaprobe::kCudaOutOfMemory);
  EXPECT(cudaMalloc(&memory, kGiB) == 0);
}

void full_table() {
  boot("gb10", 10000);
  void* memory;
  int made = 0;
  while (cudaMalloc(&memory, 1) == 0) made++;
  EXPECT(made == 8192 - 1, "%d", made);  // the context takes one entry
  EXPECT(cudaDeviceReset() == 0 && cudaMalloc(&memory, kGiB) == 0);
}

}  // namespace

const Row kMemoryScenarios[] = {{"memory.free_is_memfree", free_is_memfree},
                                {"memory.cache_gives_way", cache_gives_way},
                                {"memory.pools_keep_it", pools_keep_it},
                                {"memory.fragments_fail", fragments_fail},
                                {"memory.movable_pages_decide", movable_pages_decide},
                                {"memory.phantom", phantom_is_no_memory},
                                {"memory.managed_is_lazy", managed_is_lazy},
                                {"memory.contents", contents},
                                {"memory.own_memory", own_memory},
                                {"memory.spills", spills},
                                {"memory.limits", limits},
                                {"memory.full_table", full_table},
                                {nullptr, nullptr}};

}  // namespace world

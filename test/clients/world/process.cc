// Scenarios: several processes on one machine, and the wedge.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "harness.h"

namespace world {
namespace {

// Allocates 1 GiB at a time until it is stopped.
void eat() {
  while (true) allocate(kGiB);
}

void wedges() {
  boot("gb10", 100);
  const int eater = start(eat);
  for (int i = 0; i < 2000 && !wedged(); i++) wait_ms(5);
  EXPECT(wedged());
  EXPECT(record().find("\"pid\":" + std::to_string(eater)) != std::string::npos);
  EXPECT(record().find("\"during\":\"cudaMalloc\"") != std::string::npos);
  EXPECT(meminfo("MemAvailable") < 3 * kGiB && meminfo("SwapFree") < meminfo("SwapTotal"));
  wait_ms(300);  // 30 s of simulated time
  EXPECT(pressure_full10() > 80, "%.1f", pressure_full10());
  // A process that calls CUDA or NVML now never returns, but can be killed.
  const int asks = start([] { nvmlInit_v2(); });
  EXPECT(wait_for(asks, 300) == -1);
  kill_and_wait(asks);
  kill_and_wait(eater);
  wait_ms(300);
  const int later = start([] { cuda_free(); });
  EXPECT(wait_for(later, 300) == -1);
  kill_and_wait(later);
  EXPECT(meminfo("MemTotal") > 0 && recorded("callsBlocked") >= 2);
}

void stopped_in_time() {
  boot("gb10", 100, "exhaustion.wedgeAfterMs 600000\n");
  const uint64_t free_before = meminfo("MemFree");
  const int eater = start(eat);
  // A guard sees pressure before the machine wedges.
  int looks = 0;
  while (pressure_full10() < 5 && looks++ < 4000) wait_ms(2);
  EXPECT(looks < 4000 && !wedged());
  kill_and_wait(eater);
  wait_ms(150);
  EXPECT(!wedged() && meminfo("MemFree") + kGiB > free_before);
  EXPECT(wait_for(start([] { allocate(20 * kGiB); }), 10000) == 0);
  EXPECT(recorded("leastAvailable") < 8.0 * kGiB);
}

void memory_comes_back() {
  // The memory takes seconds to come back (docs/simulated-machine.md [8]); here an hour, and then
  // the time of a GB10: this computer may be busy between two looks.
  for (const char* more : {"timing.exitMsPerGiB 60000\n", ""}) {
    boot("gb10", 100, more);
    const uint64_t before = meminfo("MemFree");
    const int pid = start([] {
      allocate(60 * kGiB);
      pause();
    });
    while (before - meminfo("MemFree") < 60 * kGiB) wait_ms(2);
    kill_and_wait(pid);
    const bool slow = *more != '\0';
    const uint64_t first = meminfo("MemFree"), enough = slow ? first + 1 : before;
    EXPECT(!slow || first < before);
    for (int i = 0; i < 1000 && meminfo("MemFree") < enough; i++) wait_ms(5);
    EXPECT(meminfo("MemFree") >= enough && (slow || meminfo("MemFree") == before));
  }
}

void half_made_comes_back() {
  boot("gb10", 1);
  const uint64_t before = meminfo("MemFree");
  const int pid = start([] { allocate(80 * kGiB); });  // takes 3 s
  while (before - meminfo("MemFree") < 2 * kGiB) wait_ms(2);
  kill_and_wait(pid);
  for (int i = 0; i < 4000 && meminfo("MemFree") != before; i++) wait_ms(5);
  EXPECT(meminfo("MemFree") == before);
}

void killed_holding_the_lock() {
  boot("gb10", 10000);
  const uint64_t before = meminfo("MemFree");
  // The number of kills that hit the lock depends on the load of this computer: 50 kills, then
  // more until enough hit it, at most 2000.
  const auto enough = [] { return recorded("ownerDeaths") >= 5; };
  for (int i = 0; i < 50 || (!enough() && i < 2000); i++) {
    const int pid = start([] {
      while (true) {
        void* memory = nullptr;
        cudaMalloc(&memory, 64 << 20);
        cudaFree(memory);
        // Reading meminfo holds the lock and does not sleep.
        for (int look = 0; look < 100; look++) meminfo("MemFree");
      }
    });
    wait_ms(2 + i % 7);
    kill_and_wait(pid);
    EXPECT(meminfo("MemTotal") > 0);
  }
  wait_ms(20);
  EXPECT(meminfo("MemFree") == before);
  EXPECT(enough(), "%.0f died holding it", recorded("ownerDeaths"));
}

void fork_is_another() {
  boot("gb10", 1000);
  allocate(5 * kGiB);
  const uint64_t with_parent = meminfo("MemFree");
  const int child = start([] {
    unsigned flags;
    int active;
    EXPECT(cuInit(0) == 0);
    EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active) == 0 && active == 0);
    allocate(5 * kGiB);
  });
  EXPECT(wait_for(child, 10000) == 0);
  wait_ms(20);
  EXPECT(meminfo("MemFree") == with_parent);
  EXPECT(cudaDeviceReset() == 0 && meminfo("MemFree") > with_parent);
}

void exec_forgets() {
  boot("gb10", 1000);
  const uint64_t before = meminfo("MemFree");
  int seen[2];
  EXPECT(pipe(seen) == 0);
  const int pid = start([&] {
    allocate(30 * kGiB);
    char byte;
    EXPECT(::read(seen[0], &byte, 1) == 1);
    execl("/proc/self/exe", "worldtest", "--look", static_cast<char*>(nullptr));
  });
  while (before - meminfo("MemFree") < 30 * kGiB) wait_ms(1);
  EXPECT(::write(seen[1], "", 1) == 1);
  // The program that held the memory is gone; the process lives.
  for (int i = 0; i < 2000 && meminfo("MemFree") != before; i++) wait_ms(1);
  EXPECT(meminfo("MemFree") == before && wait_for(pid, 0) == -1);
  kill_and_wait(pid);
}

void threads() {
  boot("gb10", 10000);
  const uint64_t before = meminfo("MemFree");
  std::vector<std::thread> all;
  for (int i = 0; i < 8; i++) {
    all.emplace_back([i] {
      for (int round = 0; round < 20; round++) {
        char* memory = static_cast<char*>(allocate((1 + i % 3) * kGiB));
        EXPECT(cudaMemset(memory, i, kGiB) == 0);
        char back = -1;
        EXPECT(cudaMemcpy(&back, memory + kGiB / 2, 1, 2) == 0 && back == i);
        EXPECT(cudaFree(memory) == 0);
        nvmlInit_v2();
        meminfo("MemFree");
        nvmlShutdown();
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT(recorded("contexts") == 1);
  EXPECT(cudaDeviceReset() == 0 && meminfo("MemFree") == before);
}

}  // namespace

const Row kProcessScenarios[] = {{"process.wedges", wedges},
                                 {"process.stopped_in_time", stopped_in_time},
                                 {"process.memory_comes_back", memory_comes_back},
                                 {"process.half_made", half_made_comes_back},
                                 {"process.killed_with_lock", killed_holding_the_lock},
                                 {"process.fork_is_another", fork_is_another},
                                 {"process.exec_forgets", exec_forgets},
                                 {"process.threads", threads},
                                 {nullptr, nullptr}};

}  // namespace world

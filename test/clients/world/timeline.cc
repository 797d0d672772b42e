// Scenarios: the duration of calls, other processes during a call, and calls that are cut off.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "harness.h"

namespace world {
namespace {

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Simulated milliseconds of a call by this program's own clock: the least of several calls, because
// this computer may be busy. They end with one that takes at most `enough`.
template <typename Body, typename Undo>
double simulated_ms(double enough, Body body, Undo undo) {
  constexpr int kMost = 50;
  double least = INFINITY;
  for (int i = 0; i < kMost && least > enough; i++) {
    const double begun = now_ms();
    body();
    const double ms = now_ms() - begun;
    least = std::min(least, ms * static_cast<double>(umasim_scale_milli()) / 1000);
    undo();
  }
  return least;
}

struct Lab {
  double gb, ms;
};
// The memory architecture lab's sweep on a GB10.
constexpr Lab kLab[] = {{1, 35.67}, {2, 78.09}, {4, 148.63}, {8, 291.55}, {10, 344.19}, {20, 672},
                        {30, 979},  {40, 1288}, {50, 1545},  {60, 3108},  {70, 2626},   {80, 2778}};

double allocation_ms(double gb, double enough) {
  void* memory = nullptr;
  const auto bytes = static_cast<uint64_t>(gb * 1e9);
  return simulated_ms(
      enough, [&] { memory = allocate(bytes); }, [&] { EXPECT(cudaFree(memory) == 0); });
}

void lab_is_matched() {
  boot("gb10", 20);
  EXPECT(umasim_scale_milli() == 20000 && recorded("scale") == 20);
  EXPECT(cudaFree(nullptr) == 0);
  for (const Lab& step : kLab) {
    const double ms = allocation_ms(step.gb, step.gb * 34.6 * 1.12);
    EXPECT(std::fabs(ms / step.ms - 1) < 0.35, "%.0f GB: %.1f ms, the lab had %.1f", step.gb, ms,
           step.ms);
    // The time is linear in the size.
    EXPECT(std::fabs(ms / step.gb / 34.6 - 1) < 0.12, "%.0f GB: %.1f ms", step.gb, ms);
  }
}

void lab_is_matched_unscaled() {
  boot("gb10", 1);
  EXPECT(cudaFree(nullptr) == 0);
  for (const double gb : {0.001, 1.0, 4.0}) {
    const double expected = 0.12 + gb * 34.46, ms = allocation_ms(gb, expected * 1.35 + 5);
    // The call is never faster. It is slower by the time a busy computer takes to wake this
    // process, even under a sanitizer.
    EXPECT(ms > expected * 0.9 && ms < expected * 1.35 + 5, "%.3f GB: %.3f ms", gb, ms);
  }
}

void touches_and_frees() {
  boot("gb10", 1);
  EXPECT(cudaFree(nullptr) == 0);
  void* memory = allocate(20'000'000'000);
  const auto touch = [&] {
    EXPECT(cudaMemset(memory, 1, 20'000'000'000) == 0 && cudaDeviceSynchronize() == 0);
  };
  const double device_ms = simulated_ms(20e9 / 1e6 / (233 - 25), touch, [] {});
  EXPECT(std::fabs(20e9 / device_ms / 1e6 - 233) < 25, "%.0f GB/s", 20e9 / device_ms / 1e6);
  // 20 GB are 18.6 GiB, freed at 4 ms per GiB.
  const double free_ms = simulated_ms(
      150, [&] { EXPECT(cudaFree(memory) == 0); }, [&] { memory = allocate(20'000'000'000); });
  EXPECT(free_ms > 74 && free_ms <= 150, "%.1f ms", free_ms);
  EXPECT(cudaFree(memory) == 0);
  // Managed memory: the first touch allocates it; the second is as fast as the device.
  const auto make = [&] { EXPECT(cudaMallocManaged(&memory, 20'000'000'000, 1) == 0); };
  make();
  const double expected_ms = 18.626 * 45 + 85.8;
  const double first_ms = simulated_ms(expected_ms * 1.1, touch, [&] {
    EXPECT(cudaFree(memory) == 0);
    make();
  });
  EXPECT(std::fabs(first_ms / expected_ms - 1) <= 0.1, "%.1f ms", first_ms);
  touch();
  const double second_ms = simulated_ms(85.8 * 1.15, touch, [] {});
  EXPECT(std::fabs(second_ms / 85.8 - 1) <= 0.15, "%.1f ms", second_ms);
}

void neighbour_at_the_first_allocation() {
  boot("gb10", 1,
       "processes.0.name neighbour\nprocesses.0.pid 4200001\nprocesses.0.gpuBytes 0\n"
       "processes.0.anonBytes 0\nevents.0.atMs 200\nevents.0.afterFirstAllocation true\n"
       "events.0.what anon\nevents.0.bytes 42949672960\nevents.0.overMs 3000\n"
       "events.0.process neighbour\n");
  const uint64_t anon = meminfo("AnonPages");
  EXPECT(cudaFree(nullptr) == 0);
  wait_ms(300);
  EXPECT(meminfo("AnonPages") == anon);  // a context does not count as an allocation
  const int pid = start([] {
    allocate(70 * kGiB);
    pause();
  });
  // The allocation takes 2.6 s. The neighbour grows meanwhile; the lock is never held for long.
  double longest = 0;
  while (meminfo("AnonPages") - anon < 20 * kGiB) {
    const double begun = now_ms();
    meminfo("MemFree");
    longest = std::max(longest, now_ms() - begun);
    wait_ms(5);
  }
  EXPECT(record().find("\"kind\":\"device\"") != std::string::npos && !wedged());
  kill_and_wait(pid);
  EXPECT(longest < 1000, "%.0f ms", longest);
  wait_ms(2000);
  EXPECT(meminfo("AnonPages") - anon > 36 * kGiB);
}

void pressure_before_the_wedge() {
  boot("gb10", 20,
       "processes.0.name neighbour\nprocesses.0.pid 4200001\nprocesses.0.gpuBytes 0\n"
       "processes.0.anonBytes 0\nevents.0.atMs 0\nevents.0.afterFirstAllocation true\n"
       "events.0.what anon\nevents.0.bytes 42949672960\nevents.0.overMs 3000\n"
       "events.0.process neighbour\n");
  const int pid = start([] {
    void* mine = umasim_map(kGiB);
    EXPECT(cudaMemset(mine, 1, kGiB) == 0);
    while (true) allocate(kGiB);
  });
  for (int i = 0; i < 2000 && !wedged(); i++) wait_ms(5);
  EXPECT(wedged());
  // The pressure was high enough for a guard that stops at 10 %.
  EXPECT(recorded("pressureFull10") > 20, "%.1f", recorded("pressureFull10"));
  // A wedged machine gets no memory back when a process dies.
  const uint64_t free_then = meminfo("MemFree");
  kill_and_wait(pid);
  wait_ms(300);
  EXPECT(meminfo("MemFree") <= free_then + kGiB / 8);
}

void cut_off_by_kill() {
  boot("gb10", 1);
  EXPECT(cudaFree(nullptr) == 0);
  const uint64_t before = meminfo("MemFree");
  for (const bool by_itself : {false, true}) {
    // A child's watcher thread calls _exit during the call; here a signal handler does.
    const int pid = start([&] {
      if (by_itself) {
        struct sigaction leave {};
        leave.sa_handler = [](int) { _exit(6); };
        sigaction(SIGUSR1, &leave, nullptr);
      }
      allocate(80 * kGiB);
    });
    while (before - meminfo("MemFree") < 10 * kGiB) wait_ms(2);
    kill(pid, by_itself ? SIGUSR1 : SIGKILL);
    EXPECT(wait_for(pid, 5000) == (by_itself ? 6 : 1000 + SIGKILL));
    // The allocation stopped at once, far below 80 GiB. The part taken comes back with time.
    const uint64_t taken = before - meminfo("MemFree");
    EXPECT(taken > kGiB && taken < 40 * kGiB, "%.1f GiB", static_cast<double>(taken) / kGiB);
    for (int i = 0; i < 1000 && meminfo("MemFree") != before; i++) wait_ms(5);
    EXPECT(meminfo("MemFree") == before);
  }
  EXPECT(recorded("allocationsCutOff") == 2);
  EXPECT(record().find("\"cutOff\":true") != std::string::npos);
  // A process that got its memory was not cut off.
  EXPECT(wait_for(start([] { allocate(kGiB); }), 5000) == 0);
  meminfo("MemFree");
  EXPECT(recorded("allocationsCutOff") == 2);
  EXPECT(record().find("\"cutOff\":false") != std::string::npos);
}

}  // namespace

const Row kTimelineScenarios[] = {{"timeline.lab", lab_is_matched},
                                  {"timeline.lab_unscaled", lab_is_matched_unscaled},
                                  {"timeline.touches", touches_and_frees},
                                  {"timeline.neighbour", neighbour_at_the_first_allocation},
                                  {"timeline.pressure", pressure_before_the_wedge},
                                  {"timeline.cut_off", cut_off_by_kill},
                                  {nullptr, nullptr}};

}  // namespace world

#include "sim/state/clock.h"

#include <time.h>

#include <cerrno>

namespace umasim {
namespace {

// Lateness of nanosleep: 50 us of timer slack, plus the scheduler.
constexpr int64_t kLateNs = 70'000;

void nap_ns(int64_t ns) {
  timespec left;
  left.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  left.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void sleep_until_ns(int64_t until) {
  for (int64_t left = until - real_ns(); left > 0; left = until - real_ns()) {
    if (left > kLateNs) nap_ns(left - kLateNs);
  }
}

int64_t real_duration_ns(const State& state, double ms) {
  constexpr double kForever = 4e18;  // 127 years in ns: no overflow when added to real_ns()
  const double ns = ms / state.machine.scale * 1e6;
  return ns >= kForever ? static_cast<int64_t>(kForever) : static_cast<int64_t>(ns);
}

}  // namespace

int64_t real_ns() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

double clock_ms(const State& state) {
  return static_cast<double>(real_ns() - state.boot_ns) / 1e6 * state.machine.scale;
}

void sleep_ms(const State& state, double ms) {
  sleep_until_ns(real_ns() + real_duration_ns(state, ms));
}

int64_t SimulatedDelay::due_ns() const { return start_ns_ + real_duration_ns(state_, pending_ms_); }

void SimulatedDelay::add(double ms) {
  constexpr int64_t kShortestSleepNs = 1'000'000;
  pending_ms_ += ms;
  const int64_t ahead = due_ns() - real_ns();
  // A late return shortens the next sleep, because due_ns() counts from the beginning.
  if (ahead >= kShortestSleepNs) nap_ns(ahead);
}

void SimulatedDelay::flush() { sleep_until_ns(due_ns()); }

void SimulatedDelay::restart() {
  start_ns_ = real_ns();
  pending_ms_ = 0;
}

}  // namespace umasim

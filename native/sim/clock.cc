#include "clock.h"

#include <time.h>

#include <cerrno>

namespace umasim {

int64_t real_ns() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

double clock_ms(const State& state) {
  return static_cast<double>(real_ns() - state.boot_ns) / 1e6 * state.machine.scale;
}

void sleep_ms(const State& state, double ms) {
  const double ns = ms / state.machine.scale * 1e6;
  if (ns < 1) return;
  timespec left;
  left.tv_sec = static_cast<time_t>(ns / 1e9);
  left.tv_nsec = static_cast<long>(ns - static_cast<double>(left.tv_sec) * 1e9);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

void Pace::owe(double ms) {
  owed_ms_ += ms;
  if (owed_ms_ / state_.machine.scale >= 1) settle();
}

void Pace::settle() {
  const int64_t begun = real_ns();
  sleep_ms(state_, owed_ms_);
  // A sleep takes longer than asked; the next one is shorter by that much.
  owed_ms_ -= static_cast<double>(real_ns() - begun) / 1e6 * state_.machine.scale;
}

}  // namespace umasim

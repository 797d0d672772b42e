// The simulated clock: real time since boot, times clock.scale. All durations are simulated
// milliseconds.
#pragma once
#include "state.h"

namespace umasim {

int64_t real_ns();
double clock_ms(const State& state);
void sleep_ms(const State& state, double ms);

// Time that is owed for work done in small pieces: sleeps when a real millisecond has come
// together, because a nanosleep for each piece would cost more than the piece.
class Pace {
 public:
  explicit Pace(const State& state) : state_(state) {}
  void owe(double ms);
  void settle();

 private:
  const State& state_;
  double owed_ms_ = 0;
};

}  // namespace umasim

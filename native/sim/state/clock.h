// The simulated clock: real time since boot, times clock.scale. All durations are simulated
// milliseconds.
#pragma once
#include "sim/state/state.h"

namespace umasim {

int64_t real_ns();
double clock_ms(const State& state);
// Exact to some microseconds of real time, which clock.scale multiplies: the last of it is spent
// looking at the clock.
void sleep_ms(const State& state, double ms);

// Time that is owed for work done in small pieces: sleeps when a real millisecond has come
// together, because a nanosleep for each piece would cost more than the piece. What the simulator
// itself takes in between counts towards what is owed.
class Pace {
 public:
  explicit Pace(const State& state) : state_(state), begun_ns_(real_ns()) {}
  void owe(double ms);
  void settle();
  // After a wait that is nobody's work.
  void restart();

 private:
  int64_t due_ns() const;

  const State& state_;
  int64_t begun_ns_;
  double owed_ms_ = 0;
};

}  // namespace umasim

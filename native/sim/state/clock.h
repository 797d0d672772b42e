// The simulated clock: real time since boot, multiplied by clock.scale. Durations are in simulated
// milliseconds unless a name ends in _ns.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Real time since the boot of this computer.
int64_t real_ns();
double clock_ms(const State& state);
// Sleeps with an error of a few real microseconds, because clock.scale multiplies any error: the
// last 70 us are a busy wait.
void sleep_ms(const State& state, double ms);

// The simulated duration of work that is done in small pieces. It sleeps once a real millisecond is
// pending, because a nanosleep per piece would cost more than the piece. The real time that the
// simulator spends between pieces counts towards the pending time.
class SimulatedDelay {
 public:
  explicit SimulatedDelay(const State& state) : state_(state), start_ns_(real_ns()) {}
  void add(double ms);
  // Sleeps until all added time has passed.
  void flush();
  // Starts anew after a wait that is not part of the work.
  void restart();

 private:
  int64_t due_ns() const;

  const State& state_;
  int64_t start_ns_;
  double pending_ms_ = 0;
};

}  // namespace umasim

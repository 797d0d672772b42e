// The scripted events of a machine: processes that grow, shrink or exit, caches that fill,
// pressure, and devices that are lost.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Brings one event to the present of the world. Returns true while the event waits for memory.
bool run_event(State& state, int index);
// The largest share of the time in which `pressure` events let all tasks wait.
double scripted_pressure(const State& state, double from_ms, double to_ms);

}  // namespace umasim

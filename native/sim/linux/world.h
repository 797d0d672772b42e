// The simulated machine over time: its first state, its advance, its stalls and its wedge.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// Sets the initial values. Returns an empty string, or why they do not fit the machine's memory.
std::string start_world(State& state);

// Brings the world to `now_ms`: events, writeback, kswapd, pools, pressure.
void advance(State& state, double now_ms);

// Reports that a request for `bytes` has waited since `since_ms`. Pressure rises, and a machine
// that wedges does so after exhaustion.wedgeAfterMs.
void stall(State& state, int pid, const char* during, uint64_t bytes, double since_ms);

}  // namespace umasim

// The scripted events of a machine: processes that grow, shrink or exit, and page cache that fills.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Brings one event to the present of the world. Returns true while the event waits for memory.
bool run_event(State& state, int index);

}  // namespace umasim

// sync(2) on the simulated machine.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Writes dirty pages back in chunks. Returns 0; never returns on a wedged machine.
int write_back(State& state);

}  // namespace umasim

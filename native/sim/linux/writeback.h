// sync(2) on the simulated machine.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Writes back what is dirty, piece by piece. 0, or never: the machine is wedged.
int write_back(State& state);

}  // namespace umasim

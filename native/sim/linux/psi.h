// Pressure stall information: exponential averages of the share of time in which tasks waited for
// memory.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// `some` and `full` are the shares (0 to 1) of the last `dt_ms` that tasks lost to stalls.
void psi_advance(Psi& psi, double some, double full, double dt_ms);
// The text of /proc/pressure/memory.
std::string psi_text(const Psi& psi);

}  // namespace umasim

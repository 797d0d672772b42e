// The machine that this process is on: the real one, or one simulated one. The first reading of any
// environment decides, for the life of the process, because the libraries of that machine stay
// open.
#pragma once

#include "machine/machine_config.h"

namespace umaprobe {

// Puts the process on the machine that `paths` names. Empty also when it is there already. A
// failure leaves the process where it was.
std::optional<Failure> enter_machine(const MachineConfig& config);

}  // namespace umaprobe

// The machine that this process uses: the real one or one simulated machine. The first reading of
// any environment decides for the life of the process, because the machine's libraries stay open.
#pragma once

#include "machine/machine_config.h"

namespace umaprobe {

// Selects the machine of `config` for this process. Succeeds if the process uses it already. A
// failure changes nothing.
std::optional<Failure> enter_machine(const MachineConfig& config);

}  // namespace umaprobe

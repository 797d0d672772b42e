// What happened on a machine, as JSON text.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// Under the lock.
std::string record_text(State& state);

}  // namespace umasim

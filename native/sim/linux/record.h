// The record of a machine: its history as JSON.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// Callers hold the lock.
std::string record_text(const State& state);

}  // namespace umasim

// Texts of the simulated kernel's files, in the real kernel's format. Under the lock.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

std::string meminfo_text(State& state);
std::string buddyinfo_text(State& state);
std::string zoneinfo_text(State& state);
std::string vmstat_text(State& state);
std::string driver_version_text(State& state);
std::string driver_params_text(State& state);

// Pages in the driver's pool of an order, counted in pages of that order.
uint64_t pool_pages(const State& state, int order);

}  // namespace umasim

// The texts of the simulated files, in the format of Linux. Callers hold the lock.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

std::string meminfo_text(const State& state);
std::string buddyinfo_text(const State& state);
std::string pagetypeinfo_text(const State& state);
std::string zoneinfo_text(const State& state);
std::string vmstat_text(const State& state);
std::string driver_version_text(const State& state);
std::string driver_params_text(const State& state);
// The count file of a pool's shrinker: "<inode of the root cgroup> <objects on node 0>", or an
// empty text for an empty pool.
std::string pool_count_text(const State& state, int order);

}  // namespace umasim

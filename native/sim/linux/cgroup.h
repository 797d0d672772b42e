// The one cgroup (v2) that the programs on a simulated machine are in. Managed memory is charged to
// it, as the driver allocates it with __GFP_ACCOUNT, and so is memory of the system and page cache;
// cudaMalloc is not: 12 GiB of it under a limit of 8 GiB left memory.current at 0.4 GiB (facts 4.1,
// 4.4).
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

#define UMASIM_CGROUP "/user.slice/umaprobe.scope"

// What is charged, in bytes.
uint64_t cgroup_bytes(const State& state);
std::string cgroup_stat_text(const State& state);

// memory.reclaim of the cgroup, or of all of them (`root`): gives back clean page cache, never
// CUDA's memory. 0, -EINVAL, or -EAGAIN where there was less than asked for; what was found is
// freed in each case.
int cgroup_reclaim(State& state, bool root, const char* data, size_t size, uint64_t* freed);

}  // namespace umasim

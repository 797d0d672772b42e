// The one cgroup (v2) of all programs on a simulated machine. It is charged for system memory, page
// cache and managed memory, which the driver allocates with __GFP_ACCOUNT. It is not charged for
// cudaMalloc: 12 GiB of it under a limit of 8 GiB left memory.current at 0.4 GiB
// (docs/simulated-machine.md [10]).
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

#define UMASIM_CGROUP "/user.slice/umaprobe.scope"

// memory.current: the bytes charged.
uint64_t cgroup_bytes(const State& state);
std::string cgroup_stat_text(const State& state);

// Writes to memory.reclaim of the cgroup or of the `root` cgroup: frees clean page cache, never
// CUDA memory. Returns 0, -EINVAL, or -EAGAIN if it freed less than requested.
int cgroup_reclaim(State& state, bool root, const char* data, size_t size, uint64_t* freed);

}  // namespace umasim

// The files that perform an action when written: drop_caches, compact_memory and memory.reclaim.
//
// A preloaded program that opens drop_caches or compact_memory gets a descriptor of an ordinary
// file beside the state file, opened with O_APPEND. The next Locked applies the bytes written to
// it. So a write works from a shell, through dup2() and from child processes, without a thread that
// watches.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Opens a file for later writes, with `flags` as of open(). Returns a descriptor or -errno. The
// memory.reclaim files give -EACCES: a delayed write could not report that it freed too little.
int open_control_file(State& state, ControlFile file, int flags);
// Applies the bytes written to the descriptors of open_control_file(). Callers hold the lock.
void apply_control_writes(State& state);

// Performs a write at once. Returns 0, -EINVAL or -EAGAIN, and the freed bytes in `freed`. `pid` is
// recorded; 0 if the writer is unknown. Callers hold the lock.
int write_control_file(State& state, ControlFile file, int pid, const char* data, size_t size,
                       uint64_t* freed);

}  // namespace umasim

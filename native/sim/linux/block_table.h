// The table of allocations. Callers hold the lock.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// The cause of a free. An exit frees memory over time, at timing.exitMsPerGiB.
enum class Freeing { kByCall, kByExit };

// Adds a block without memory. Returns its id, or -1 if the table is full.
int new_block(State& state, int client, BlockKind kind, int device, uint64_t bytes);
// Adds memory, which the caller has taken, to a block.
void add_to_block(State& state, int id, uint64_t host_bytes, uint64_t device_bytes);
// Returns the memory of a block to the pools or to free memory, and frees its id.
void free_block(State& state, int id, Freeing how);
// Recomputes the totals from the table, after a process died while it updated them.
void recount(State& state);
// Returns whether the totals are the sums of the table.
bool totals_agree(const State& state);

}  // namespace umasim

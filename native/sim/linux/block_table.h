// The table of allocations. Everything here is done under the lock.
#pragma once
#include "sim/state/state.h"

namespace umasim {

enum class Return { kNow, kAfterExit };

// A new block that holds nothing yet: its id, or -1 when the table is full.
int new_block(State& state, int client, Kind kind, int device, uint64_t bytes);
// More memory for a block; the caller has taken it.
void add_to_block(State& state, int id, uint64_t host_bytes, uint64_t device_bytes);
// What the block holds goes back where its kind of memory goes, and the id is free again.
void return_block(State& state, int id, Return how);
// Makes the totals agree with the table, after a process died between one and the other.
void recount(State& state);
// True when they do.
bool totals_agree(const State& state);

}  // namespace umasim

// The table of processes that use the machine. Callers of the table functions hold the lock.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Start time of a live process in clock ticks; 0 for a dead process or a zombie.
uint64_t process_start(int pid);

// The slot of this process, added if absent; -1 if the table is full.
int client_of_this_process(State& state);

// Frees the memory of dead processes.
void reap_dead_clients(State& state);

}  // namespace umasim

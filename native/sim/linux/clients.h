// The processes of the machine: who they are, and whether they still live.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Start time of a live process in clock ticks; 0 when it is gone (a zombie's memory is gone too).
uint64_t process_start(int pid);

// Slot of this process, made when it has none; -1 when the table is full. Under the lock.
int client_of_this_process(State& state);

// Frees what processes held that are gone. Under the lock.
void reap(State& state);

}  // namespace umasim

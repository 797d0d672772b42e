// Reserving and releasing the memory of allocations, which takes simulated time. The lock is held
// only per piece, so other processes see the memory shrink gradually, as on a real machine.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// Adds a block with all its memory; managed memory gets its memory on touch. Returns a cudaError_t.
int reserve(const Call& call, BlockKind kind, int device, uint64_t bytes, int* id);
// Adds the memory of `bytes` that were touched first in a managed or system block. Returns a
// cudaError_t, and the time in `ms`.
int reserve_touched(const Call& call, int id, uint64_t bytes, double* ms);
// The same for bytes of a system block that the processor wrote first: ordinary memory, at once.
int reserve_written(State& state, int pid, int id, uint64_t bytes);
void release(const Call& call, int id);

}  // namespace umasim

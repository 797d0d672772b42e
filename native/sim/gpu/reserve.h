// Making and freeing allocations: the part of a call that takes memory and time. The lock is held
// only for each piece of it, so that other processes see the memory go, as on a real machine.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// A new block with all its memory (managed memory gets none yet). A cudaError_t.
int allocate(const Call& call, Kind kind, int device, uint64_t bytes, int* id);
// First touch of `bytes` of a managed or system block, and the milliseconds that took.
int touch(const Call& call, int id, uint64_t bytes, double* ms);
void release(const Call& call, int id);

}  // namespace umasim

// The CUDA memory calls, shared by runtime and driver: addresses, contents and accounting. Each
// returns a cudaError_t; the CUresult has the same value.
#pragma once
#include "sim/gpu/contexts.h"

namespace umasim {

int memory_allocate(const Call& call, BlockKind kind, int device, uint64_t bytes, void** address);
// Frees an allocation of either kind. Null is allowed.
int memory_free(const Call& call, void* address, BlockKind kind, BlockKind other);
int memory_register(const Call& call, int device, void* address, uint64_t bytes);
// Repeats a pattern of four bytes.
int memory_fill(const Call& call, int device, void* address, uint64_t bytes, uint32_t pattern);
int memory_copy(const Call& call, int device, void* to, const void* from, uint64_t bytes);
// Touches a range. Untouched managed or system memory gets pages, and `ms` grows by their time.
int memory_touch(const Call& call, const void* address, uint64_t bytes, double* ms);
int memory_prefetch(const Call& call, int device, const void* address, uint64_t bytes);
// Milliseconds in which the device reads or writes `bytes` at the address.
double transfer_ms(const Call& call, const void* address, uint64_t bytes);
// The values of cudaMemGetInfo.
void memory_info(State& state, int device, size_t* free, size_t* total);
// totalGlobalMem of cudaDeviceProp.
uint64_t device_total(const State& state, int device);

// System memory, as mmap() gives it. Returns null and sets errno on an error.
void* system_map(Session& session, uint64_t bytes);
// The processor writes to the range. Returns 0, -EINVAL outside of system memory, or -ENOMEM if the
// machine has no memory left and does not wedge.
int system_touch(Session& session, void* address, uint64_t bytes);
void system_unmap(Session& session, void* address, uint64_t bytes);

}  // namespace umasim

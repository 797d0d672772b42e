// CUDA memory calls, the same for runtime and driver: address, contents and accounting together.
// Each answers a cudaError_t, which CUresult shares for these.
#pragma once
#include "sim/gpu/contexts.h"

namespace umasim {

int memory_allocate(const Call& call, Kind kind, int device, uint64_t bytes, void** address);
// Frees an allocation of one of two kinds; null is fine.
int memory_free(const Call& call, void* address, Kind kind, Kind other);
int memory_register(const Call& call, int device, void* address, uint64_t bytes);
// Fills with a pattern of four bytes.
int memory_fill(const Call& call, int device, void* address, uint64_t bytes, uint32_t pattern);
int memory_copy(const Call& call, int device, void* to, const void* from, uint64_t bytes);
// First touch of a range of managed or system memory, which adds to `ms`; nothing for other memory.
int memory_touch(const Call& call, const void* address, uint64_t bytes, double* ms);
int memory_prefetch(const Call& call, int device, const void* address, uint64_t bytes);
// Milliseconds that the device takes to read or write so many bytes there.
double moving_ms(const Call& call, const void* address, uint64_t bytes);
// [free, total] as cudaMemGetInfo sees them.
void memory_info(State& state, int device, size_t* free, size_t* total);
// Total as cudaDeviceProp has it.
uint64_t device_total(const State& state, int device);

// Memory of the machine that is no CUDA call's: mmap's. Null with errno.
void* system_map(Session& session, uint64_t bytes);
void system_unmap(Session& session, void* address, uint64_t bytes);

}  // namespace umasim

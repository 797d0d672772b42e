// CUDA memory calls, the same for runtime and driver: address, contents and accounting together.
// Each answers a cudaError_t, which CUresult shares for these.
#pragma once
#include "contexts.h"

namespace umasim {

int memory_allocate(const Call& call, Kind kind, int device, uint64_t bytes, void** address);
// Frees an allocation of one of two kinds; null is fine.
int memory_free(const Call& call, void* address, Kind kind, Kind other);
int memory_register(const Call& call, int device, void* address, uint64_t bytes);
// Fills with a pattern of four bytes.
int memory_fill(const Call& call, int device, void* address, uint64_t bytes, uint32_t pattern);
int memory_copy(const Call& call, int device, void* to, const void* from, uint64_t bytes);
// First touch of a range of managed memory; nothing for other memory.
int memory_touch(const Call& call, const void* address, uint64_t bytes);
// [free, total] as cudaMemGetInfo sees them.
void memory_info(State& state, int device, size_t* free, size_t* total);
// Total as cudaDeviceProp has it.
uint64_t device_total(const State& state, int device);

// Work on a device is done in order. begin_work: it takes this long from when the device is idle;
// the answer is when it will be done. wait_for: until then.
double begin_work(const Call& call, int device, double bytes_moved);
void wait_for(const Call& call, double until_ms);
double device_idle_at(const Call& call, int device);

}  // namespace umasim

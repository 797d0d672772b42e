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
// First touch of a range of managed memory, which adds to `ms`; nothing for other memory.
int memory_touch(const Call& call, const void* address, uint64_t bytes, double* ms);
// [free, total] as cudaMemGetInfo sees them.
void memory_info(State& state, int device, size_t* free, size_t* total);
// Total as cudaDeviceProp has it.
uint64_t device_total(const State& state, int device);

// Work on a device is done in order, on the simulated clock. What was begun without waiting in
// between follows without a gap: the time that this simulator itself takes for a call would else be
// counted as the device's, and times clock.scale.
void begin_work(const Call& call, int device, double bytes_moved, double more_ms);
// When what was begun will be done, at the earliest now where nothing was.
double work_done_at(const Call& call, int device);
// An event: work that takes no time. When it will be done.
double mark_work(const Call& call, int device);
void synchronize(const Call& call, int device);
void wait_until(const Call& call, double ms);

}  // namespace umasim

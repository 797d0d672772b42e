// The work of a device, done in order on the simulated clock. Work that is queued without a
// synchronization in between follows without a gap: otherwise the time that the simulator spends in
// a call, multiplied by clock.scale, would count as time of the device.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// Returns when the device finishes its queued work and can begin new work, at the earliest now.
double ready_at(const Call& call, int device);
// Queues work of `ms`. Take `start_ms` from ready_at() before a first touch of the work's memory,
// because the touch sleeps while the work already runs.
void enqueue(const Call& call, int device, double start_ms, double ms);
// Queues an event, which takes no time. Returns when it will be done.
double enqueue_event(const Call& call, int device);
void synchronize(const Call& call, int device);
void wait_until(const Call& call, double ms);

}  // namespace umasim

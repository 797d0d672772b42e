// Work on a device is done in order, on the simulated clock. What was begun without waiting in
// between follows without a gap: the time that this simulator itself takes for a call would else be
// counted as the device's, and times clock.scale.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// When the device can begin something new: now, or after what it has been given.
double work_begins_at(const Call& call, int device);
// It has been given work of `ms`, which began at `begun_ms`; that is asked for before what the work
// waits for (a first touch of memory sleeps while it goes on).
void add_work(const Call& call, int device, double begun_ms, double ms);
// When all that was begun will be done, at the earliest now where nothing was.
double work_done_at(const Call& call, int device);
// An event: work that takes no time. When it will be done.
double mark_work(const Call& call, int device);
void synchronize(const Call& call, int device);
void wait_until(const Call& call, double ms);

}  // namespace umasim

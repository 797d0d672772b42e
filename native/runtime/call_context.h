// The library call that a thread is in, visible to other threads.
//
// A call that hangs can say nothing about itself; so each one writes its name here before it
// starts, and whoever waits for it (the watchdog, the next submission) reads it.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace umaprobe {

class Flight {
 public:
  // `watched` false: of a thread that nobody waits for with a deadline. Its calls leave no trace,
  // which saves a clock reading each (20 to 60 ns).
  explicit Flight(bool watched = true) : watched_(watched) {}

  // `call` must be a literal or live as long as the process. Costs one clock reading and two
  // relaxed stores.
  void enter(const char* call) {
    if (!watched_) return;
    since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    call_.store(call, std::memory_order_relaxed);
  }

  // The call in flight, or the last one.
  const char* call() const { return call_.load(std::memory_order_relaxed); }

  Clock::time_point since() const {
    return Clock::time_point(Clock::duration(since_.load(std::memory_order_relaxed)));
  }

  // Nobody waits for this work any more: make no further call.
  void abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

  void reset() {
    enter("start");
    abandoned_.store(false, std::memory_order_relaxed);
  }

 private:
  const bool watched_;
  std::atomic<const char*> call_{"start"};
  std::atomic<Clock::rep> since_{0};
  std::atomic<bool> abandoned_{false};
};

}  // namespace umaprobe

// The library call that a thread is in, readable from other threads.
//
// A hung call cannot report itself. So each call records its name and start time here first, and
// the watchdog or the next submission reads them.
#pragma once

#include <atomic>

#include "base/clock.h"

namespace umaprobe {

class CallContext {
 public:
  // watched=false: no watchdog monitors this thread, so enter() is a no-op. That saves one clock
  // reading per call (20 to 60 ns).
  explicit CallContext(bool watched = true) : watched_(watched) {}

  // `call` must be a literal or live as long as the process. Cost: one clock reading and two
  // relaxed stores.
  void enter(const char* call) {
    if (!watched_) return;
    since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    call_.store(call, std::memory_order_relaxed);
  }

  // The call in progress, or the last one.
  const char* call() const { return call_.load(std::memory_order_relaxed); }

  Clock::time_point since() const {
    return Clock::time_point(Clock::duration(since_.load(std::memory_order_relaxed)));
  }

  // The deadline has passed or the environment is gone: the task must make no further call.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  void reset() {
    enter("start");
    cancelled_.store(false, std::memory_order_relaxed);
  }

 private:
  const bool watched_;
  std::atomic<const char*> call_{"start"};
  std::atomic<Clock::rep> since_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace umaprobe

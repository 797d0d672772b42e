// Stops the allocator without JavaScript. The guard's thread sets it; the CUDA worker thread
// checks it.
#pragma once

#include <atomic>
#include <optional>

#include "base/clock.h"
#include "base/failure.h"

namespace umaprobe {

class StopSource {
 public:
  // Stops every allocation from now on. Returns at once; see idle_since().
  void stop() {
    stopped_.store(true);
    if (!active_.load()) note_idle();
  }
  bool stopped() const { return stopped_.load(); }
  // Returns whether a call that takes memory is in progress.
  bool active() const { return active_.load(); }

  void reset() {
    idle_since_.store(0);
    stopped_.store(false);
  }

  // Returns when the last active call after stop() ended. Empty: not stopped, or a call is still
  // active.
  std::optional<Clock::time_point> idle_since() const {
    const Clock::rep since = idle_since_.load();
    if (since == 0) return std::nullopt;
    return Clock::time_point(Clock::duration(since));
  }

  // Marks a call that takes memory. Must be constructed before checking stopped(): then either the
  // call sees the stop, or stop() sees the call (both sides are sequentially consistent).
  class ActiveCall {
   public:
    explicit ActiveCall(StopSource& source) : source_(source) { source_.active_.store(true); }
    ~ActiveCall() {
      source_.active_.store(false);
      if (source_.stopped()) source_.note_idle();
    }
    ActiveCall(const ActiveCall&) = delete;
    ActiveCall& operator=(const ActiveCall&) = delete;

   private:
    StopSource& source_;
  };

 private:
  void note_idle() {
    Clock::rep never = 0;
    idle_since_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
  }

  std::atomic<bool> stopped_{false};
  std::atomic<bool> active_{false};
  std::atomic<Clock::rep> idle_since_{0};
};

inline Failure stopped_failure(const char* call) {
  return {"umaprobe", call, std::nullopt, "STOPPED", "the guard has stopped allocation"};
}

}  // namespace umaprobe

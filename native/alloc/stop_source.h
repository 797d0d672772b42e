// What stops the allocator without JavaScript: set by the guard's thread, looked at on the lane.
#pragma once

#include <atomic>

#include "base/failure.h"
#include "runtime/call_context.h"

namespace umaprobe {

class StopSource {
 public:
  // From now on nothing is allocated. Answers at once; see `idle_since`.
  void stop() {
    stopped_.store(true);
    if (!working_.load()) note_idle();
  }
  bool stopped() const { return stopped_.load(); }
  // Something that takes memory is under way.
  bool working() const { return working_.load(); }

  // A guard that starts anew decides anew.
  void reset() {
    idle_since_.store(0);
    stopped_.store(false);
  }

  // Since when nothing has been at work after `stop`; the clock's epoch: not yet.
  Clock::time_point idle_since() const {
    return Clock::time_point(Clock::duration(idle_since_.load()));
  }

  // Work that takes memory. Made before looking at `stopped`, so that either the work sees the stop
  // or the stop sees the work (sequentially consistent on both sides).
  class Work {
   public:
    explicit Work(StopSource& stop_source) : stop_source_(stop_source) {
      stop_source_.working_.store(true);
    }
    ~Work() {
      stop_source_.working_.store(false);
      if (stop_source_.stopped()) stop_source_.note_idle();
    }
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    StopSource& stop_source_;
  };

 private:
  void note_idle() {
    Clock::rep never = 0;
    idle_since_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
  }

  std::atomic<bool> stopped_{false};
  std::atomic<bool> working_{false};
  std::atomic<Clock::rep> idle_since_{0};
};

inline Failure stopped_failure(const char* call) {
  return {"umaprobe", call, std::nullopt, "STOPPED", "the guard has stopped allocation"};
}

}  // namespace umaprobe

// What this process knows about calls that have outlived their deadlines, by library. Like the
// table of a library's functions it belongs to the process: a library that is stuck for one worker
// is stuck.
#pragma once

#include <atomic>
#include <mutex>

#include "base/failure.h"
#include "runtime/call_context.h"

namespace umaprobe {

// kKernel: not a library, but what the kernel may take long for: dropping caches, a large tree of
// files. kSync: sync(2), which must not hold those up.
enum class LaneId { kCuda, kNvml, kKernel, kSync };
inline constexpr size_t kLaneCount = 4;

class StuckCalls {
 public:
  // Cheap; true from the moment a call has outlived its deadline until it returns.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  void begin(const Flight& flight);
  void end();
  // About the one that was noticed last.
  Failure failure() const;

 private:
  std::atomic<int> count_{0};
  mutable std::mutex mutex_;
  const char* call_ = "";
  Clock::time_point since_;
};

StuckCalls& stuck_calls(LaneId library);

// What is answered for a call that is not made, because this one has not returned.
Failure stuck_failure(const char* call, Clock::time_point since);

}  // namespace umaprobe

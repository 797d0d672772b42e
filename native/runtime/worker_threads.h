// Threads of our own for calls that may hang, and a watchdog that answers for them at the deadline.
//
// One thread per library and two for the kernel's slow work, not libuv's pool: NVML has blocked for
// twelve minutes on a wedged machine (MiaAI-Lab/DeepSeek-v4.1-Flash issue 23), four such calls
// would stop all file access of the process, and Node waits for its pool before it lets a worker or
// the process go. These threads are detached and nobody waits for them; all that they touch is
// owned by shared_ptr.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/failure.h"
#include "base/monotonic_condition.h"
#include "runtime/call_context.h"
#include "runtime/hung_calls.h"

namespace umaprobe {

// Work for a lane. Destroyed on any thread: it must not hold anything of JavaScript's.
class Task {
 public:
  virtual ~Task() = default;
  // On the lane's thread. Names each call in `flight` before making it.
  virtual void run(Flight& flight) = 0;
  // Once, on any thread, with no lock held: `run` has returned, or the deadline has passed and this
  // is the reason.
  virtual void answer(std::optional<Failure> timed_out) = 0;
};

// The lanes and the watchdog of one environment.
class Lanes : public std::enable_shared_from_this<Lanes> {
 public:
  // First in, first out. The limit counts from now. A lane that is stuck answers at once.
  // Throws std::system_error when the system gives no more threads.
  void submit(LaneId id, std::shared_ptr<Task> task, std::chrono::milliseconds limit);

  // Runs on the lane's thread as its last work, when the environment has gone and the call that it
  // was in has returned. Not where the lane has no thread, nor at the end of the process.
  void at_end(LaneId id, std::function<void()> farewell);

  // The environment is going: no further answer, no further call. Idle threads end; one that is
  // stuck ends when its call returns. Does not wait.
  void close();

 private:
  struct Entry {
    std::shared_ptr<Task> task;
    Clock::time_point submitted;
    Clock::time_point deadline;
  };

  struct Lane {
    explicit Lane(LaneId library) : library(library) {}

    const LaneId library;
    bool started = false;
    std::deque<Entry> queue;
    std::optional<Entry> running;  // until answered
    Flight flight;
    std::atomic<bool> stuck{false};  // the call in flight has outlived its deadline
    MonotonicCondition work;
    std::function<void()> farewell;
  };

  struct TimedOut {
    std::shared_ptr<Task> task;
    Failure reason;
  };

  Lane& lane(LaneId id) { return lanes_[static_cast<size_t>(id)]; }

  void start(Lane& lane);
  void serve(Lane& lane);
  void work_off(Lane& lane);
  void watch();
  // Takes out what is overdue and says when to look again. Under the lock.
  Clock::time_point expire(Lane& lane, Clock::time_point now, std::vector<TimedOut>& overdue);

  std::mutex mutex_;
  bool closed_ = false;
  bool watching_ = false;
  Clock::time_point next_look_ = Clock::time_point::max();
  MonotonicCondition look_;
  std::array<Lane, kLaneCount> lanes_{Lane(LaneId::kCuda), Lane(LaneId::kNvml),
                                      Lane(LaneId::kKernel), Lane(LaneId::kSync)};
};

}  // namespace umaprobe

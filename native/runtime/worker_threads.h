// Threads for calls that may hang, and a watchdog that completes their tasks at the deadline.
//
// There is one thread per library and three for slow work of the Linux kernel, instead of libuv's
// pool: NVML has blocked for twelve minutes on a wedged machine (MiaAI-Lab/DeepSeek-v4.1-Flash
// issue 23), four such calls would stop all file access of the process, and Node waits for its pool
// before a Node worker or the process can exit. These threads are detached and never joined;
// everything that they use is owned by shared_ptr.
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

// Work for a worker thread. Any thread may destroy it, so it must not hold JavaScript values.
class Task {
 public:
  virtual ~Task() = default;
  // Called on the worker thread. Must name each call in `context` before making it.
  virtual void run(CallContext& context) = 0;
  // Called once, on any thread, with no lock held: after `run` has returned, or at the deadline
  // with the TIMEOUT failure.
  virtual void complete(std::optional<Failure> timed_out) = 0;
};

// The worker threads and the watchdog of one environment.
class WorkerThreads : public std::enable_shared_from_this<WorkerThreads> {
 public:
  // Tasks of one worker run first in, first out. The timeout counts from this call. If the worker
  // is hung, the task completes at once. Throws std::system_error if no thread can be started.
  void submit(WorkerId id, std::shared_ptr<Task> task, std::chrono::milliseconds timeout);

  // Runs `exit_task` on the worker thread after close(), as its last work, once the call in
  // progress has returned. It does not run if the worker never started or the process exits first.
  void on_exit(WorkerId id, std::function<void()> exit_task);

  // Stops completing and calling anything, because the environment is going away. Idle threads
  // exit; a hung thread exits when its call returns. Does not wait.
  void close();

 private:
  struct Entry {
    std::shared_ptr<Task> task;
    Clock::time_point submitted;
    Clock::time_point deadline;
  };

  struct Worker {
    explicit Worker(WorkerId id) : id(id) {}

    const WorkerId id;
    bool started = false;
    std::deque<Entry> queue;
    std::optional<Entry> running;  // set until it is completed
    CallContext context;
    std::atomic<bool> hung{false};  // the call in progress is past its deadline
    MonotonicCondition wake;
    std::function<void()> exit_task;
  };

  struct TimedOut {
    std::shared_ptr<Task> task;
    Failure reason;
  };

  Worker& worker(WorkerId id) { return workers_[static_cast<size_t>(id)]; }

  void start(Worker& worker);
  void run_worker(Worker& worker);
  void run_tasks(Worker& worker);
  void run_watchdog();
  // Moves overdue tasks to `overdue` and returns the next deadline. Requires the lock.
  Clock::time_point expire(Worker& worker, Clock::time_point now, std::vector<TimedOut>& overdue);

  std::mutex mutex_;
  bool closed_ = false;
  bool watchdog_started_ = false;
  Clock::time_point next_deadline_ = Clock::time_point::max();
  MonotonicCondition wake_watchdog_;
  std::array<Worker, kWorkerCount> workers_{Worker(WorkerId::kCuda), Worker(WorkerId::kNvml),
                                            Worker(WorkerId::kHost), Worker(WorkerId::kSync),
                                            Worker(WorkerId::kFiles)};
};

}  // namespace umaprobe

// Threads for short calls, any of which may hang, such as readings of kernel files.
//
// A file of /proc or /sys answers within microseconds, until one does not: lxcfs serves
// /proc/meminfo of a container by FUSE, and when it hangs, so does every reader. Usually one or two
// threads make all calls, in order. If a call takes longer than kPatience while others wait, one
// more thread starts and makes those. A call that has not returned at the deadline fails alone,
// with TIMEOUT; until it returns, the same call fails at once.
//
// The threads are detached and never joined, as those of WorkerThreads.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/failure.h"
#include "base/monotonic_condition.h"

namespace umaprobe {

class CallThreads : public std::enable_shared_from_this<CallThreads> {
 public:
  struct Call {
    // The name in the failure if it hangs: "read /proc/meminfo". Calls of one name never run at the
    // same time.
    std::string name;
    // Runs on any of the threads. It may still run after the deadline, and after close().
    std::function<void()> run;
  };
  // An entry for each call; empty: it has returned.
  using Failures = std::vector<std::optional<Failure>>;

  // Calls `complete` once, on any thread, with no lock held: when all calls have returned, or at
  // the deadline. Throws std::system_error if no thread can be started.
  void submit(std::vector<Call> calls, std::chrono::milliseconds timeout,
              std::function<void(Failures)> complete);

  // The failure of this call if one of its name is past its deadline and has not returned.
  std::optional<Failure> hung(std::string_view name) const;

  // Stops completing and calling anything. Does not wait.
  void close();

 private:
  struct Batch {
    std::vector<Call> calls;
    Failures failures;
    std::vector<bool> open;  // has not returned
    size_t open_count = 0;
    Clock::time_point submitted;
    Clock::time_point deadline;
    std::function<void(Failures)> complete;
  };
  struct Ticket {
    std::shared_ptr<Batch> batch;
    size_t index;
    const Call& call() const { return batch->calls[index]; }
  };
  struct Running {
    Ticket ticket;
    Clock::time_point since;
    bool overdue = false;
    std::vector<Ticket> followers;  // calls of the same name, which wait for its end
  };

  // All private functions require the lock, except run_calls() and run_watchdog().
  void start_thread();
  void try_start_thread();
  void start_watchdog();
  void check_at(Clock::time_point time);
  void run_calls();
  void run_watchdog();
  // Returns the next call to make, entered in `running_`; end(): there is none.
  std::list<Running>::iterator take();
  // Marks the ticket's call as returned. True: it was the batch's last one, and the batch is over.
  bool finish(const Ticket& ticket);
  void expire(Batch& batch, Clock::time_point now);
  // Starts another thread if all threads are stuck and calls wait. Returns the time to look again.
  Clock::time_point relieve(Clock::time_point now);

  mutable std::mutex mutex_;
  bool closed_ = false;
  bool watchdog_started_ = false;
  size_t threads_ = 0;
  size_t idle_ = 0;
  std::deque<Ticket> waiting_;
  std::list<Running> running_;
  std::vector<std::shared_ptr<Batch>> batches_;  // batches that are not completed
  Clock::time_point next_check_ = Clock::time_point::max();
  MonotonicCondition wake_;
  MonotonicCondition wake_watchdog_;
};

}  // namespace umaprobe

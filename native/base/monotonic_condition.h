// A condition variable that waits on the monotonic clock.
//
// In current libstdc++, std::condition_variable::wait_until(steady_clock) calls
// pthread_cond_clockwait(). That symbol needs glibc 2.30, while the prebuilt binary supports 2.28,
// and GCC 12's thread sanitizer does not know it.
#pragma once

#include <pthread.h>

#include <ctime>
#include <mutex>

#include "base/clock.h"

namespace umaprobe {

class MonotonicCondition {
 public:
  MonotonicCondition() {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);  // the clock of steady_clock
    pthread_cond_init(&condition_, &attributes);
    pthread_condattr_destroy(&attributes);
  }
  ~MonotonicCondition() { pthread_cond_destroy(&condition_); }
  MonotonicCondition(const MonotonicCondition&) = delete;
  MonotonicCondition& operator=(const MonotonicCondition&) = delete;

  void notify() { pthread_cond_broadcast(&condition_); }
  void notify_one() { pthread_cond_signal(&condition_); }

  void wait(std::unique_lock<std::mutex>& lock) {
    pthread_cond_wait(&condition_, lock.mutex()->native_handle());
  }

  // May return early: check the clock again.
  void wait_until(std::unique_lock<std::mutex>& lock, Clock::time_point time) {
    if (time == Clock::time_point::max()) return wait(lock);
    const auto since = time.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    timespec until{};
    until.tv_sec = static_cast<time_t>(seconds.count());
    until.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since - seconds).count());
    pthread_cond_timedwait(&condition_, lock.mutex()->native_handle(), &until);
  }

 private:
  pthread_cond_t condition_;
};

}  // namespace umaprobe

#include "runtime/call_threads.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/hung_calls.h"

namespace umaprobe {
namespace {

using std::chrono::milliseconds;

// The slowest file that is read, /proc/vmstat, takes 0.1 ms with 256 processors. A wrong value
// costs a thread and nothing else.
constexpr milliseconds kPatience{50};
// Threads that stay. /proc/zoneinfo takes as long as all other files of a snapshot, and is read
// beside them where a processor is left by JavaScript, CUDA and NVML.
const size_t kThreads = std::thread::hardware_concurrency() > 4 ? 2 : 1;
// Bounds the threads on a machine on which everything hangs; a hung call keeps one thread.
constexpr size_t kMaxThreads = 32;

Failure not_tried(const std::string& name, Clock::duration waited) {
  return {"umaprobe", name, std::nullopt, "TIMEOUT",
          "not tried within " + whole_ms(waited) + ": earlier calls are blocked"};
}

}  // namespace

void CallThreads::submit(std::vector<Call> calls, milliseconds timeout,
                         std::function<void(Failures)> complete) {
  const auto now = Clock::now();
  auto batch = std::make_shared<Batch>();
  batch->failures.resize(calls.size());
  batch->open.resize(calls.size());
  batch->calls = std::move(calls);
  batch->submitted = now;
  batch->deadline = now + timeout;
  batch->complete = std::move(complete);

  std::unique_lock<std::mutex> lock(mutex_);
  if (closed_) return;
  if (threads_ == 0) start_thread();
  start_watchdog();
  for (size_t i = 0; i < batch->calls.size(); ++i) {
    const std::string& name = batch->calls[i].name;
    const auto same = std::find_if(running_.begin(), running_.end(), [&](const Running& call) {
      return call.overdue && call.ticket.call().name == name;
    });
    if (same != running_.end()) {
      batch->failures[i] = hung_failure(name.c_str(), same->since);
      continue;
    }
    batch->open[i] = true;
    ++batch->open_count;
    waiting_.push_back({batch, i});
  }
  if (batch->open_count == 0) {
    lock.unlock();
    return batch->complete(std::move(batch->failures));
  }
  batches_.push_back(batch);
  if (threads_ < std::min(kThreads, waiting_.size())) try_start_thread();
  check_at(std::min(batch->deadline, relieve(now)));
  if (batch->open_count > 1) {
    wake_.notify();
  } else {
    wake_.notify_one();
  }
}

std::optional<Failure> CallThreads::hung(std::string_view name) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Running& call : running_) {
    if (call.overdue && call.ticket.call().name == name)
      return hung_failure(call.ticket.call().name.c_str(), call.since);
  }
  return std::nullopt;
}

void CallThreads::close() {
  std::deque<Ticket> dropped;  // destroyed after the lock is released
  std::vector<std::shared_ptr<Batch>> batches;
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  waiting_.swap(dropped);
  batches_.swap(batches);
  wake_.notify();
  wake_watchdog_.notify();
}

void CallThreads::start_thread() {
  std::thread([self = shared_from_this()] { self->run_calls(); }).detach();
  ++threads_;
}

void CallThreads::try_start_thread() {
  try {
    start_thread();
  } catch (const std::system_error&) {  // waiting calls fail at their deadlines
  }
}

void CallThreads::start_watchdog() {
  if (watchdog_started_) return;
  std::thread([self = shared_from_this()] { self->run_watchdog(); }).detach();
  watchdog_started_ = true;
}

// Waking the watchdog costs some microseconds; it is awake anyway while readings follow one
// another.
void CallThreads::check_at(Clock::time_point time) {
  if (time >= next_check_) return;
  next_check_ = time;
  wake_watchdog_.notify();
}

std::list<CallThreads::Running>::iterator CallThreads::take() {
  while (!waiting_.empty()) {
    const Ticket ticket = std::move(waiting_.front());
    waiting_.pop_front();
    const auto same = std::find_if(running_.begin(), running_.end(), [&](const Running& call) {
      return call.ticket.call().name == ticket.call().name;
    });
    if (same == running_.end()) {
      running_.push_back({ticket, Clock::now(), false, {}});
      return std::prev(running_.end());
    }
    same->followers.push_back(ticket);
  }
  return running_.end();
}

void CallThreads::run_calls() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    const auto running = take();
    if (running == running_.end()) {
      // The others were started while these were stuck.
      if (idle_ == kThreads) break;
      ++idle_;
      wake_.wait(lock);
      --idle_;
      continue;
    }
    const Ticket ticket = running->ticket;
    lock.unlock();
    ticket.call().run();
    lock.lock();
    for (Ticket& follower : running->followers) waiting_.push_back(std::move(follower));
    running_.erase(running);
    if (!finish(ticket)) continue;
    lock.unlock();
    ticket.batch->complete(std::move(ticket.batch->failures));
    lock.lock();
  }
  --threads_;
}

bool CallThreads::finish(const Ticket& ticket) {
  Batch& batch = *ticket.batch;
  if (closed_ || !batch.open[ticket.index]) return false;
  batch.open[ticket.index] = false;
  if (--batch.open_count > 0) return false;
  batches_.erase(std::find(batches_.begin(), batches_.end(), ticket.batch));
  return true;
}

void CallThreads::run_watchdog() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    const auto now = Clock::now();
    if (now < next_check_) {
      wake_watchdog_.wait_until(lock, next_check_);
      continue;
    }
    std::vector<std::shared_ptr<Batch>> overdue;
    next_check_ = Clock::time_point::max();
    for (auto batch = batches_.begin(); batch != batches_.end();) {
      if ((*batch)->deadline > now) {
        next_check_ = std::min(next_check_, (*batch++)->deadline);
        continue;
      }
      expire(**batch, now);
      overdue.push_back(std::move(*batch));
      batch = batches_.erase(batch);
    }
    next_check_ = std::min(next_check_, relieve(now));
    if (overdue.empty()) continue;
    lock.unlock();
    for (const auto& batch : overdue) batch->complete(std::move(batch->failures));
    overdue.clear();
    lock.lock();
  }
}

void CallThreads::expire(Batch& batch, Clock::time_point now) {
  std::vector<bool> was_tried(batch.calls.size());
  for (Running& call : running_) {
    if (call.ticket.batch.get() == &batch) {
      call.overdue = true;
      was_tried[call.ticket.index] = true;
    }
    for (const Ticket& follower : call.followers) {
      if (follower.batch.get() == &batch) was_tried[follower.index] = true;
    }
  }
  for (size_t i = 0; i < batch.calls.size(); ++i) {
    if (!batch.open[i]) continue;
    batch.open[i] = false;
    const auto failure = was_tried[i] ? overdue_failure : not_tried;
    batch.failures[i] = failure(batch.calls[i].name, now - batch.submitted);
  }
  const auto is_over = [&](const Ticket& ticket) { return ticket.batch.get() == &batch; };
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_over), waiting_.end());
  for (Running& call : running_) {
    auto& followers = call.followers;
    followers.erase(std::remove_if(followers.begin(), followers.end(), is_over), followers.end());
  }
}

Clock::time_point CallThreads::relieve(Clock::time_point now) {
  if (waiting_.empty()) return Clock::time_point::max();
  // A thread that is not in a call takes the next one.
  if (running_.size() < threads_) return now + kPatience;
  auto latest = Clock::time_point::min();
  for (const Running& call : running_) latest = std::max(latest, call.since);
  if (now < latest + kPatience) return latest + kPatience;
  if (threads_ < kMaxThreads) try_start_thread();
  return now + kPatience;
}

}  // namespace umaprobe

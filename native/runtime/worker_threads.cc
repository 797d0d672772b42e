#include "runtime/worker_threads.h"

#include <algorithm>
#include <thread>

namespace umaprobe {

void WorkerThreads::submit(WorkerId id, std::shared_ptr<Task> task,
                           std::chrono::milliseconds timeout) {
  Worker& target = worker(id);
  if (target.hung.load(std::memory_order_relaxed)) {
    return task->complete(hung_failure(target.context.call(), target.context.since()));
  }

  const auto now = Clock::now();
  const auto deadline = now + timeout;
  bool is_next = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    start(target);
    target.queue.push_back({std::move(task), now, deadline});
    // Timeouts are mostly alike, so the watchdog usually wakes for an earlier deadline already.
    is_next = deadline < next_deadline_;
    if (is_next) next_deadline_ = deadline;
  }
  target.wake.notify();
  if (is_next) wake_watchdog_.notify();
}

void WorkerThreads::close() {
  std::deque<Entry> dropped[kWorkerCount];  // destroyed after the lock is released
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].context.cancel();
    workers_[i].queue.swap(dropped[i]);
    workers_[i].wake.notify();
  }
  wake_watchdog_.notify();
}

// Requires the lock. Threads start with the first task; each keeps this object alive until it
// exits.
void WorkerThreads::start(Worker& worker) {
  if (!watchdog_started_) {
    std::thread([self = shared_from_this()] { self->run_watchdog(); }).detach();
    watchdog_started_ = true;
  }
  if (!worker.started) {
    std::thread([self = shared_from_this(), &worker] { self->run_worker(worker); }).detach();
    worker.started = true;
  }
}

void WorkerThreads::on_exit(WorkerId id, std::function<void()> exit_task) {
  std::lock_guard<std::mutex> lock(mutex_);
  worker(id).exit_task = std::move(exit_task);
}

void WorkerThreads::run_worker(Worker& worker) {
  run_tasks(worker);
  // Needs no lock: after close() no other thread uses exit_task.
  if (worker.exit_task) worker.exit_task();
}

// Returns after close().
void WorkerThreads::run_tasks(Worker& worker) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    while (!closed_ && worker.queue.empty()) worker.wake.wait(lock);
    if (closed_) return;
    worker.context.reset();
    worker.running = std::move(worker.queue.front());
    worker.queue.pop_front();
    std::shared_ptr<Task> task = worker.running->task;

    lock.unlock();
    task->run(worker.context);
    lock.lock();

    if (worker.hung.exchange(false, std::memory_order_relaxed)) hung_calls(worker.id).end();
    const bool completed = !worker.running;  // the watchdog completed it
    worker.running.reset();
    if (closed_) return;
    lock.unlock();
    if (!completed) task->complete(std::nullopt);
    task.reset();
    lock.lock();
  }
}

void WorkerThreads::run_watchdog() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    const auto now = Clock::now();
    if (now < next_deadline_) {
      wake_watchdog_.wait_until(lock, next_deadline_);
      continue;
    }
    std::vector<TimedOut> overdue;
    next_deadline_ = Clock::time_point::max();
    for (Worker& worker : workers_) {
      next_deadline_ = std::min(next_deadline_, expire(worker, now, overdue));
    }
    if (overdue.empty()) continue;
    lock.unlock();
    for (TimedOut& item : overdue) item.task->complete(std::move(item.reason));
    overdue.clear();
    lock.lock();
  }
}

Clock::time_point WorkerThreads::expire(Worker& worker, Clock::time_point now,
                                        std::vector<TimedOut>& overdue) {
  auto next = Clock::time_point::max();
  const auto check = [&](Entry& entry) {
    if (entry.deadline > now) {
      next = std::min(next, entry.deadline);
      return false;
    }
    overdue.push_back(
        {std::move(entry.task), overdue_failure(worker.context.call(), now - entry.submitted)});
    return true;
  };
  if (worker.running && check(*worker.running)) {
    worker.running.reset();
    worker.context.cancel();
    worker.hung.store(true, std::memory_order_relaxed);
    hung_calls(worker.id).begin(worker.context);
  }
  for (auto entry = worker.queue.begin(); entry != worker.queue.end();) {
    entry = check(*entry) ? worker.queue.erase(entry) : entry + 1;
  }
  return next;
}

}  // namespace umaprobe

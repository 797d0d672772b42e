#include "runtime/worker_threads.h"

#include <algorithm>
#include <string>
#include <thread>

namespace umaprobe {
namespace {

long milliseconds(Clock::duration duration) {
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

Failure overdue_failure(const Flight& flight, Clock::duration waited) {
  const char* call = flight.call();
  return {"umaprobe", call, std::nullopt, "TIMEOUT",
          "no answer within " + std::to_string(milliseconds(waited)) + " ms: blocked in " + call};
}

}  // namespace

void Lanes::submit(LaneId id, std::shared_ptr<Task> task, std::chrono::milliseconds limit) {
  Lane& target = lane(id);
  if (target.stuck.load(std::memory_order_relaxed)) {
    return task->answer(stuck_failure(target.flight.call(), target.flight.since()));
  }

  const auto now = Clock::now();
  const auto deadline = now + limit;
  bool look_earlier = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    start(target);
    target.queue.push_back({std::move(task), now, deadline});
    // With limits that are mostly alike the watchdog is already set to look earlier, and sleeps on.
    look_earlier = deadline < next_look_;
    if (look_earlier) next_look_ = deadline;
  }
  target.work.notify();
  if (look_earlier) look_.notify();
}

void Lanes::close() {
  std::deque<Entry> dropped[kLaneCount];  // destroyed after the lock is gone
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].flight.abandon();
    lanes_[i].queue.swap(dropped[i]);
    lanes_[i].work.notify();
  }
  look_.notify();
}

// Threads come into being with the first submission, under the lock. Each keeps the lanes alive
// until it ends.
void Lanes::start(Lane& lane) {
  if (!watching_) {
    std::thread([self = shared_from_this()] { self->watch(); }).detach();
    watching_ = true;
  }
  if (!lane.started) {
    std::thread([self = shared_from_this(), &lane] { self->serve(lane); }).detach();
    lane.started = true;
  }
}

void Lanes::at_end(LaneId id, std::function<void()> farewell) {
  std::lock_guard<std::mutex> lock(mutex_);
  lane(id).farewell = std::move(farewell);
}

void Lanes::serve(Lane& lane) {
  work_off(lane);
  // No lock: nobody else looks at it once the lanes are closed.
  if (lane.farewell) lane.farewell();
}

// Until the lanes are closed.
void Lanes::work_off(Lane& lane) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    while (!closed_ && lane.queue.empty()) lane.work.wait(lock);
    if (closed_) return;
    lane.flight.reset();
    lane.running = std::move(lane.queue.front());
    lane.queue.pop_front();
    std::shared_ptr<Task> task = lane.running->task;

    lock.unlock();
    task->run(lane.flight);
    lock.lock();

    if (lane.stuck.exchange(false, std::memory_order_relaxed)) stuck_calls(lane.library).end();
    const bool answered = !lane.running;  // by the watchdog
    lane.running.reset();
    if (closed_) return;
    lock.unlock();
    if (!answered) task->answer(std::nullopt);
    task.reset();
    lock.lock();
  }
}

void Lanes::watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_) {
    const auto now = Clock::now();
    if (now < next_look_) {
      look_.wait_until(lock, next_look_);
      continue;
    }
    std::vector<TimedOut> overdue;
    next_look_ = Clock::time_point::max();
    for (Lane& lane : lanes_) next_look_ = std::min(next_look_, expire(lane, now, overdue));
    if (overdue.empty()) continue;
    lock.unlock();
    for (TimedOut& item : overdue) item.task->answer(std::move(item.reason));
    overdue.clear();
    lock.lock();
  }
}

Clock::time_point Lanes::expire(Lane& lane, Clock::time_point now, std::vector<TimedOut>& overdue) {
  auto next = Clock::time_point::max();
  const auto check = [&](Entry& entry) {
    if (entry.deadline > now) {
      next = std::min(next, entry.deadline);
      return false;
    }
    overdue.push_back({std::move(entry.task), overdue_failure(lane.flight, now - entry.submitted)});
    return true;
  };
  if (lane.running && check(*lane.running)) {
    lane.running.reset();
    lane.flight.abandon();
    lane.stuck.store(true, std::memory_order_relaxed);
    stuck_calls(lane.library).begin(lane.flight);
  }
  for (auto entry = lane.queue.begin(); entry != lane.queue.end();) {
    entry = check(*entry) ? lane.queue.erase(entry) : entry + 1;
  }
  return next;
}

}  // namespace umaprobe

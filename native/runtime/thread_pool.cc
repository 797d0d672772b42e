#include "runtime/thread_pool.h"

#include <algorithm>
#include <system_error>

namespace umaprobe {
namespace {

// Tasks taken at once. A task takes a few microseconds; one at a time, the threads would contend
// for the counter.
constexpr size_t kChunk = 8;

}  // namespace

ThreadPool::ThreadPool(unsigned max_threads)
    : max_helpers_(std::min(max_threads, std::max(1u, std::thread::hardware_concurrency())) - 1) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t)>& task) {
  // If the system gives no more threads, the threads at hand do the work.
  try {
    while (count > kChunk && threads_.size() < max_helpers_)
      threads_.emplace_back([this, done = loops_] { run_thread(done); });
  } catch (const std::system_error&) {
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    task_ = &task;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    busy_ = static_cast<unsigned>(threads_.size());
    ++loops_;
  }
  begin_.notify_all();
  run_chunks();
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::run_thread(unsigned done) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    begin_.wait(lock, [&] { return stopping_ || loops_ != done; });
    if (stopping_) return;
    done = loops_;
    lock.unlock();
    run_chunks();
    lock.lock();
    if (--busy_ == 0) finished_.notify_one();
  }
}

void ThreadPool::run_chunks() {
  while (true) {
    const size_t from = next_.fetch_add(kChunk, std::memory_order_relaxed);
    const size_t to = std::min(count_, from + kChunk);
    if (from >= count_) return;
    for (size_t i = from; i < to; ++i) (*task_)(i);
  }
}

}  // namespace umaprobe

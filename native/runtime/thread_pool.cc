#include "runtime/thread_pool.h"

#include <algorithm>
#include <system_error>

namespace umaprobe {
namespace {

// Pieces taken at a time: of a few microseconds each, in which the counter they are taken from
// should not be what the threads wait for.
constexpr size_t kHandful = 8;

}  // namespace

Crew::Crew(unsigned most)
    : helpers_(std::min(most, std::max(1u, std::thread::hardware_concurrency())) - 1) {}

Crew::~Crew() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(size_t count, const std::function<void(size_t)>& piece) {
  // The system gives no more threads: then this one does it alone.
  try {
    while (count > kHandful && threads_.size() < helpers_)
      threads_.emplace_back([this, seen = round_] { help(seen); });
  } catch (const std::system_error&) {
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    piece_ = &piece;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    busy_ = static_cast<unsigned>(threads_.size());
    ++round_;
  }
  begin_.notify_all();
  take_pieces();
  std::unique_lock<std::mutex> lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::help(unsigned done) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    begin_.wait(lock, [&] { return over_ || round_ != done; });
    if (over_) return;
    done = round_;
    lock.unlock();
    take_pieces();
    lock.lock();
    if (--busy_ == 0) finished_.notify_one();
  }
}

void Crew::take_pieces() {
  while (true) {
    const size_t from = next_.fetch_add(kHandful, std::memory_order_relaxed);
    const size_t to = std::min(count_, from + kHandful);
    if (from >= count_) return;
    for (size_t i = from; i < to; ++i) (*piece_)(i);
  }
}

}  // namespace umaprobe

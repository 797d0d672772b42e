#include "run/supervisor/load_actions.h"

#include "run/supervisor/small_thread.h"

namespace umaprobe {

LoadActions::LoadActions(Host& host) : host_(host) {
  constexpr size_t kStackBytes = 128u << 10;
  start_small_thread(this, kStackBytes);
}

bool LoadActions::begin(LoadAction action) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kIdle) return false;
  state_ = State::kWanted;
  action_ = action;
  wake_.notify();
  return true;
}

bool LoadActions::ended(LoadAction& action, int& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kEnded) return false;
  state_ = State::kIdle;
  action = action_;
  error = error_;
  return true;
}

void LoadActions::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    while (state_ != State::kWanted) wake_.wait(lock);
    const bool drop = action_ == LoadAction::kDrop;
    lock.unlock();
    // 3: page cache, dentries and inodes. Dirty pages stay: no sync, which could take minutes.
    const long written = drop ? host_.write("/proc/sys/vm/drop_caches", "3", 1)
                              : host_.write("/proc/sys/vm/compact_memory", "1", 1);
    lock.lock();
    error_ = written < 0 ? static_cast<int>(-written) : 0;
    state_ = State::kEnded;
  }
}

}  // namespace umaprobe

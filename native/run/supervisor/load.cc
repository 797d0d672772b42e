#include "run/supervisor/load.h"

#include <utility>

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

Load::Load(const SupervisorOptions& options, Host& host, Tell tell)
    : rules_(options.rules),
      tell_(std::move(tell)),
      phase_(rules_, options.load),
      free_bytes_(options.load.free_bytes),
      drop_(options.load.drop != 0),
      compact_(options.load.compact != 0) {
  if (options.act && (drop_ || compact_)) actions_ = std::make_unique<LoadActions>(host);
}

const char* Load::tick(const Reading& reading, Clock::time_point now) {
  const char* because = nullptr;
  if (!is_over_) {
    phase_.add(reading);
    because = phase_.over();
    is_over_ = because;
  }
  make_room(reading, now);
  return because;
}

// Reading files fills the page cache until no block of 2 MiB is free, and the driver's next
// allocation fails although MemAvailable is high. One drop before the launch was not enough.
void Load::make_room(const Reading& reading, Clock::time_point now) {
  const auto begin = [&](LoadAction action, Clock::time_point& next) {
    if (now < next) return;
    if (actions_ && !actions_->begin(action)) return;
    next = now + seconds(rules_.load_every_s);
    if (!actions_) tell_(action, 0);
  };
  const bool loading = !is_over_ && phase_.loading();
  const bool little = loading && reading.free < free_bytes_;
  if (drop_ && little) begin(LoadAction::kDrop, next_drop_);
  if (compact_ && (little || (loading && reading.free_blocks < rules_.min_blocks_bytes)))
    begin(LoadAction::kCompact, next_compact_);
  LoadAction action = LoadAction::kDrop;
  int error = 0;
  if (!actions_ || !actions_->ended(action, error)) return;
  tell_(action, error);
  if (error != 0) (action == LoadAction::kDrop ? drop_ : compact_) = false;
}

}  // namespace umaprobe

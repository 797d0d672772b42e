// Drops clean page cache and compacts memory while a program loads, on a thread of its own, because
// the kernel may take seconds.
#pragma once

#include <mutex>

#include "base/monotonic_condition.h"
#include "host/host.h"
#include "run/supervisor/lines.h"

namespace umaprobe {

enum class LoadAction { kDrop, kCompact };

inline const char* word_of(LoadAction action) {
  return action == LoadAction::kDrop ? action_word::kDrop : action_word::kCompact;
}

class LoadActions {
 public:
  // Starts the thread. Must live as long as the process.
  explicit LoadActions(Host& host);

  // False while the last one has not ended.
  bool begin(LoadAction action);
  // True once for each that ended, with its errno, or 0.
  bool ended(LoadAction& action, int& error);

  void run();

 private:
  Host& host_;
  std::mutex mutex_;
  MonotonicCondition wake_;
  enum class State { kIdle, kWanted, kEnded } state_ = State::kIdle;
  LoadAction action_ = LoadAction::kDrop;
  int error_ = 0;
};

}  // namespace umaprobe

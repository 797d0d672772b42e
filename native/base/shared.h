// A value that one thread writes while others read it.
#pragma once

#include <mutex>

namespace umaprobe {

// Reports are filled fact by fact, so that a reading that hangs in its third call still has the
// first two. The lock is held for a move or a copy only, never during a library call.
template <class T>
class Shared {
 public:
  template <class Change>
  void update(Change change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change(value_);
  }

  template <class Visit>
  auto read(Visit visit) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return visit(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace umaprobe

// A value that one thread writes while another reads.
#pragma once

#include <mutex>

namespace umaprobe {

// A report is filled fact by fact, so a reading that hangs at its third call keeps the first two.
// The lock is held for a move or a copy only, never during a library call.
template <class T>
class Shared {
 public:
  template <class Change>
  void update(Change change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change(value_);
  }

  template <class Read>
  auto read(Read visit) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return visit(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace umaprobe

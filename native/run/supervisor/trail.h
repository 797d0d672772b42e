// The last readings: they show a fall, and who takes the memory.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "run/supervisor/reading.h"

namespace umaprobe {

template <size_t kSize>
class Trail {
 public:
  // Keeps 40 readings of each `window` seconds, and leaves out the ones between them.
  explicit Trail(double window) : spacing_(window / 40) {}

  void add(const Reading& reading) {
    if (count_ > 0 && reading.t - at(0).t < spacing_) return;
    readings_[count_++ % kSize] = reading;
  }

  // Returns the newest reading that is at least `age` seconds older than `now`; null: there is
  // none.
  const Reading* before(double now, double age) const {
    constexpr double kRounding = 1e-6;
    const double latest = now - age + kRounding;
    const size_t size = std::min(count_, kSize);
    size_t first = 0;
    for (size_t end = size; first < end;) {
      const size_t middle = (first + end) / 2;
      if (at(middle).t <= latest) {
        end = middle;
      } else {
        first = middle + 1;
      }
    }
    return first < size ? &at(first) : nullptr;
  }

  // Returns the newest reading from before `t`, without the one that was taken at `t`.
  const Reading* earlier(double t) const {
    constexpr double kThen = 1e-3;
    return before(t, kThen);
  }

 private:
  const Reading& at(size_t back) const { return readings_[(count_ - 1 - back) % kSize]; }

  const double spacing_;
  std::array<Reading, kSize> readings_{};
  size_t count_ = 0;
};

}  // namespace umaprobe

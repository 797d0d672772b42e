// A burst is a fall that is over before anything can be done: a program takes 2 GiB in 70 ms, and
// rests. The next burst, once it has begun, is expected to take as much as the largest of the last
// seconds.
#pragma once

#include "run/supervisor/rules.h"

namespace umaprobe {

class Bursts {
 public:
  explicit Bursts(const Rules& rules) : rules_(rules) {}

  void add(double t, double left) {
    if (t - t_ < rules_.burst_every_s) return;
    const bool falls = last_ - left >= rules_.burst_step_bytes;
    if (falls && !falling_) {
      falling_ = true;
      began_ = t_;
      from_ = last_;
    }
    if (falls) fell_at_ = t;
    if (falling_ && t - fell_at_ >= rules_.burst_rest_s) end(t, left);
    t_ = t;
    last_ = left;
  }

  // Seconds since the present fall began; kUnknown: none has.
  double age() const { return falling_ ? t_ - began_ : kUnknown; }
  // Bytes a second of the present fall.
  double speed() const { return (from_ - last_) / age(); }
  // The memory that will be left at the end of the present fall; kUnknown: it is no burst, or the
  // first.
  double expected() const {
    const bool seen = t_ - largest_at_ < rules_.burst_memory_s;
    const bool is_alike = falling_ && age() <= rules_.burst_for_s && from_ - last_ < largest_ &&
                          2 * speed() >= largest_speed_;
    return seen && is_alike ? from_ - largest_ : kUnknown;
  }

 private:
  void end(double t, double left) {
    falling_ = false;
    const double bytes = from_ - left;
    const double time = fell_at_ - began_;
    if (bytes < rules_.min_fall_bytes || time > rules_.burst_for_s) return;
    if (bytes < largest_ && t - largest_at_ < rules_.burst_memory_s) return;
    largest_ = bytes;
    largest_speed_ = bytes / time;
    largest_at_ = t;
  }

  const Rules& rules_;
  double t_ = 0, last_ = kUnknown;
  bool falling_ = false;
  double began_ = 0, from_ = 0, fell_at_ = 0;
  double largest_ = 0, largest_speed_ = 0, largest_at_ = kUnknown;
};

}  // namespace umaprobe

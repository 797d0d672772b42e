// Whether pressure is a danger, or what memory costs that is being handed out.
//
// A process in direct reclaim counts as stalled, and where nothing else runs all of it is PSI full:
// taking page cache back for one large allocation can hold avg10 above 10 % for many seconds and is
// healthy (one to 98 % for two minutes, of seven such spikes on a GB10; in its four wedges avg10
// stayed at or above 10 % for 300 s and more, while MemAvailable rose to 46 GB). What tells them
// apart is that healthy reclaim gets somewhere: MemAvailable falls as pages are handed out.
#pragma once

#include <algorithm>
#include <optional>

namespace umaprobe {

class StallDetector {
 public:
  // `floor` and `limit` in bytes and percent; a floor of 0: any pressure counts.
  StallDetector(double floor, double limit) : floor_(floor), limit_(limit) {}

  // `now`: seconds of the machine. `working`: a call that takes memory is under way. What cannot be
  // read is no reason.
  bool stalled(double now, std::optional<double> available, std::optional<double> pressure,
               bool working) {
    note_progress(now, available, working);
    if (limit_ <= 0 || !pressure || *pressure < limit_) {
      over_since_.reset();
      return false;
    }
    if (!over_since_) over_since_ = now;
    const bool near_the_floor = floor_ == 0 || !available || *available < floor_ * kNear;
    const bool stuck = working && now - progress_at_ >= kStuck;
    return near_the_floor || stuck || now - *over_since_ >= kLasting;
  }

 private:
  static constexpr double kNear = 1.25;                  // times the floor
  static constexpr double kStuck = 1;                    // seconds without progress
  static constexpr double kProgress = 64.0 * (1 << 20);  // bytes; healthy reclaim: GiB in a second
  static constexpr double kLasting = 30;                 // seconds; a tenth of what a wedge showed

  void note_progress(double now, std::optional<double> available, bool working) {
    const bool fell = available && *available <= level_ - kProgress;
    if (!working || fell) progress_at_ = now;
    if (available) level_ = fell ? *available : std::max(level_, *available);
  }

  const double floor_;
  const double limit_;
  double level_ = 0;
  double progress_at_ = 0;
  std::optional<double> over_since_;
};

}  // namespace umaprobe

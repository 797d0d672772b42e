// Tells a stall from the normal cost of reclaim during an allocation.
//
// A process in direct reclaim counts as stalled, and if nothing else runs, all of it is PSI full.
// Reclaiming page cache for one large allocation can hold avg10 above 10 % for many seconds and is
// healthy: of seven such spikes on a GB10, one reached 98 % for two minutes. In its four wedges
// avg10 stayed at or above 10 % for 300 s and more while MemAvailable rose to 46 GB. Healthy
// reclaim makes progress: MemAvailable falls as pages are handed out.
//
// The judgement of lib/memory/pressure.ts differs: it has one reading and must not cry wolf, so it
// waits for the 300 s. This one has many readings, and a false alarm costs one search, a missed
// one the machine.
#pragma once

#include <algorithm>
#include <optional>

namespace umaprobe {

class StallDetector {
 public:
  // `floor` in bytes, `limit` in percent. With a floor of 0, any pressure above the limit is a
  // stall.
  StallDetector(double floor, double limit) : floor_(floor), limit_(limit) {}

  // `now`: machine time in seconds. `busy`: a call that takes memory is in progress. A reading that
  // failed never makes a stall.
  bool stalled(double now, std::optional<double> available, std::optional<double> pressure,
               bool busy) {
    note_progress(now, available, busy);
    if (limit_ <= 0 || !pressure || *pressure < limit_) {
      over_since_.reset();
      return false;
    }
    if (!over_since_) over_since_ = now;
    const bool near_the_floor = floor_ == 0 || !available || *available < floor_ * kNear;
    const bool no_progress = busy && now - progress_at_ >= kNoProgress;
    return near_the_floor || no_progress || now - *over_since_ >= kLasting;
  }

 private:
  static constexpr double kNear = 1.25;                  // factor of the floor
  static constexpr double kNoProgress = 1;               // seconds
  static constexpr double kProgress = 64.0 * (1 << 20);  // bytes; healthy reclaim: GiB per second
  static constexpr double kLasting = 30;                 // seconds; a tenth of the shortest wedge

  void note_progress(double now, std::optional<double> available, bool busy) {
    const bool fell = available && *available <= level_ - kProgress;
    if (!busy || fell) progress_at_ = now;
    if (available) level_ = fell ? *available : std::max(level_, *available);
  }

  const double floor_;
  const double limit_;
  double level_ = 0;
  double progress_at_ = 0;
  std::optional<double> over_since_;
};

}  // namespace umaprobe

// Tells a stall from the normal cost of reclaim during an allocation.
//
// A process in direct reclaim counts as stalled, and if nothing else runs, all of it is PSI full.
// Reclaiming page cache for one large allocation can hold avg10 above 10 % for many seconds and is
// healthy: of seven such spikes on a GB10, one reached 98 % for two minutes. In its four wedges
// avg10 stayed at or above 10 % for 300 s and more while MemAvailable rose to 46 GB. Healthy
// reclaim makes progress: MemAvailable falls as pages are handed out.
//
// The judgement of lib/core/memory/pressure.ts differs: it has one reading and must not cry wolf,
// so it waits for the 300 s. This one has many readings, and a false alarm costs one search, a
// missed one the machine.
#pragma once

#include <algorithm>

#include "base/unknown.h"
#include "guard/rules.h"

namespace umaprobe {

class StallDetector {
 public:
  explicit StallDetector(const ProbeRules& rules) : rules_(rules) {}

  // `now`: machine time in seconds. `busy`: a call that takes memory is in progress. A reading that
  // failed never makes a stall.
  bool stalled(double now, double available, double pressure, bool busy) {
    note_progress(now, available, busy);
    if (rules_.pressure_full_percent == 0 || !(pressure >= rules_.pressure_full_percent)) {
      over_since_ = kUnknown;
      return false;
    }
    if (!known(over_since_)) over_since_ = now;
    const double near = rules_.floor_bytes * probe_rule::kPressureNearFloors;
    const bool near_the_floor = rules_.floor_bytes == 0 || !(available >= near);
    const bool no_progress = busy && now - progress_at_ >= probe_rule::kNoProgressSeconds;
    return near_the_floor || no_progress || now - over_since_ >= probe_rule::kPressureForSeconds;
  }

 private:
  void note_progress(double now, double available, bool busy) {
    const bool fell = available <= level_ - probe_rule::kProgressBytes;
    if (!busy || fell) progress_at_ = now;
    if (known(available)) level_ = fell ? available : std::max(level_, available);
  }

  const ProbeRules& rules_;
  double level_ = 0;
  double progress_at_ = 0;
  double over_since_ = kUnknown;
};

}  // namespace umaprobe

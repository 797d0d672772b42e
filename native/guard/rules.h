// The rules by which the guard of a probe trips.
#pragma once

#include "base/given.h"
#include "base/unknown.h"

namespace umaprobe {

// The rules of the run: each must be given.
struct ProbeRules {
  double floor_bytes = kUnknown;  // trips when MemAvailable is below this; 0: not watched
  // Trips when PSI full is at or above this, and dangerous; 0: not watched.
  double pressure_full_percent = kUnknown;
  double parent = kUnknown;  // trips when the parent process is not this one; 0: not watched
  double exit_after_s =
      kUnknown;  // ends the process this long after a trip that did not help; 0: never
  double report_fd = kUnknown;  // takes a line of each trip; -1: none
};
inline constexpr Given<ProbeRules> kProbeRules[] = {
    {"floorBytes", &ProbeRules::floor_bytes, 1, 0, kMostBytes},
    {"pressureFullPercent", &ProbeRules::pressure_full_percent, 1, 0, 100},
    {"parent", &ProbeRules::parent, 1, 0, 1 << 30},
    {"exitAfterMs", &ProbeRules::exit_after_s, 1e-3, 0, kDayMs},
    {"reportFd", &ProbeRules::report_fd, 1, -1, 1 << 20},
};

namespace probe_rule {

// Time between two readings: 200 a second take at most 1 % of a core.
inline constexpr double kIntervalSeconds = 0.005;

// PSI full is enough for the guard to act at once while MemAvailable is below this many floors.
// Above them pressure may be the normal cost of reclaim during an allocation: of seven such spikes
// on a GB10, one reached 98 % for two minutes.
inline constexpr double kPressureNearFloors = 1.25;
// PSI full is also enough if MemAvailable has not fallen by this many bytes during this time of a
// call. Healthy reclaim makes progress, GiB per second: pages are handed out, and MemAvailable
// falls.
inline constexpr double kProgressBytes = 64 * (1 << 20);
inline constexpr double kNoProgressSeconds = 1;
// PSI full is also enough if it stayed above its limit for this time: a tenth of the shortest
// wedge.
inline constexpr double kPressureForSeconds = 30;

// Age at which MemAvailable, far from the floor, and PSI are read again.
inline constexpr double kReadAvailableSeconds = 0.02;
inline constexpr double kReadPressureSeconds = 0.02;
// Time between two attempts to free the memory of the work.
inline constexpr double kFreeEverySeconds = 0.1;

}  // namespace probe_rule

}  // namespace umaprobe

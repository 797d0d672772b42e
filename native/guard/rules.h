// What the guard of a probe trips by.
#pragma once

#include "base/given.h"
#include "base/unknown.h"

namespace umaprobe {

// Of the run: each must be given.
struct ProbeRules {
  double floor_bytes = kUnknown;  // trips when MemAvailable is below; 0: not watched
  // Trips when PSI full is at or above, and dangerous; 0: not watched.
  double pressure_full_percent = kUnknown;
  double parent = kUnknown;  // trips when the parent process is not this one; 0: not watched
  double exit_after_s =
      kUnknown;                 // ends the process so long after a trip that did not help; 0: never
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

// Between two readings: 200 a second take at most 1 % of a core.
inline constexpr double kIntervalSeconds = 0.005;

// Where PSI full is enough for the guard to act at once: MemAvailable below so many floors.
// Elsewhere pressure may be the normal cost of reclaim during an allocation: of seven such spikes
// on a GB10, one reached 98 % for two minutes.
inline constexpr double kPressureNearFloors = 1.25;
// Or if MemAvailable has not fallen by this while a call was running for so long. Healthy reclaim
// makes progress, GiB per second: pages are handed out, and MemAvailable falls.
inline constexpr double kProgressBytes = 64 * (1 << 20);
inline constexpr double kNoProgressSeconds = 1;
// Or if it stayed above for so long: a tenth of the shortest wedge.
inline constexpr double kPressureForSeconds = 30;

// How old MemAvailable may be far from the floor, and PSI.
inline constexpr double kReadAvailableSeconds = 0.02;
inline constexpr double kReadPressureSeconds = 0.02;
// Between two attempts to free what the work holds.
inline constexpr double kFreeEverySeconds = 0.1;

}  // namespace probe_rule

}  // namespace umaprobe

// The rules by which the guard judges. Their numbers are those of rule_list.h; a test or a replay
// gives others in a file.
#pragma once

#include <string>

#include "base/unknown.h"
#include "host/memory_reader.h"

namespace umaprobe {

inline constexpr double kMiB = 1 << 20;

struct Rules {
  // Arguments that depend on the machine and the caller.
  double floor_bytes = kUnknown;       // MemAvailable that is left to the host
  double kill_below_bytes = kUnknown;  // MemAvailable below which nothing else is needed
  double interval_s = kUnknown;        // time between two readings
  double grace_s = kUnknown;           // time from SIGTERM to SIGKILL

#define RULE(name, value, least, most) double name = value;
#include "run/supervisor/rule_list.h"
#undef RULE
};

// Takes the rules of a file, a line "name number" each. Returns what is wrong, in one line; empty:
// nothing.
std::string read_rules(const std::string& path, Rules& rules);

}  // namespace umaprobe

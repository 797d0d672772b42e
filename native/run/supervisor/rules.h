// What the guard judges by. The numbers are those of rule_list.h; a test or a replay gives others
// in a file.
#pragma once

#include <string>

#include "base/unknown.h"
#include "host/memory_reader.h"

namespace umaprobe {

inline constexpr double kMiB = 1 << 20;

struct Rules {
  // Of the machine and the caller: arguments.
  double floor_bytes = kUnknown;       // MemAvailable that is left to the host
  double kill_below_bytes = kUnknown;  // MemAvailable below which nothing else is needed
  double interval_s = kUnknown;        // between two readings
  double grace_s = kUnknown;           // from SIGTERM to SIGKILL

#define RULE(name, value, least, most) double name = value;
#include "run/supervisor/rule_list.h"
#undef RULE
};

// Takes the rules that a file has, a line "name number" each. What is wrong, in one line; empty:
// nothing.
std::string read_rules(const std::string& path, Rules& rules);

}  // namespace umaprobe

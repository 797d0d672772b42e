// The totals of /proc/pressure/memory: microseconds since boot in which some, or all, tasks waited.
#pragma once

#include <cstdint>
#include <string_view>

#include "host/host.h"

namespace umaprobe {

// -1: no such line.
struct PressureTotals {
  int64_t some_us = -1, full_us = -1;
};

PressureTotals parse_pressure_totals(std::string_view text);
PressureTotals read_pressure_totals(Host& host);

}  // namespace umaprobe

// The guard's readings, as cheap as possible: MemAvailable, and PSI full of memory.
#pragma once

#include <array>
#include <string_view>

#include "host/host.h"

namespace umaprobe {

// A line of /proc/pressure/memory.
struct PressureLine {
  double avg10;  // percent
  double total;  // microseconds
};

// The "full" line; empty if there is none.
std::optional<PressureLine> parse_full_pressure(std::string_view text);

// MemAvailable in bytes, of the text of /proc/meminfo; empty if the text has no such line, or ends
// within it.
std::optional<double> parse_available(std::string_view text);

// MemAvailable in bytes; empty if it cannot be read.
std::optional<double> read_available(Host& host);
std::optional<PressureLine> read_full_pressure(Host& host);

// PSI full avg10 as if the kernel updated it now. The kernel updates it every two seconds
// (kernel/sched/psi.c, PSI_FREQ): avg10 decays by exp(-2/10) and gains the stalled share of those
// two seconds, weighted by the remainder. `total` is current at each reading, so the same formula
// over the last two seconds predicts avg10 up to two seconds early.
//
// The stalled share alone would be misleading: reclaiming clean page cache for one large allocation
// counts as stalled while nothing else runs (12 ms per GiB on a GB10) and is harmless.
class LivePressure {
 public:
  // Percent. `now`: machine time of `line` in seconds; must not decrease.
  double add(double now, const PressureLine& line);

 private:
  struct Sample {
    double at;
    double total;
  };
  std::array<Sample, 32> ring_{};
  size_t count_ = 0;
};

}  // namespace umaprobe

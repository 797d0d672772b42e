// What the guard looks at, as cheaply as it goes: MemAvailable and PSI full of memory.
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

// The "full" line; empty where the text has none.
std::optional<PressureLine> parse_full(std::string_view text);

// MemAvailable in bytes; empty where it cannot be read.
std::optional<double> read_available(Host& host);
std::optional<PressureLine> read_full(Host& host);

// PSI full avg10 as it would be if the kernel brought it up to date now. The kernel does that every
// two seconds (kernel/sched/psi.c, PSI_FREQ): avg10 falls to exp(-2/10) of itself and gains the
// rest of what was stalled in those two seconds. `total` is counted on at each reading, so the same
// sum over the last two seconds says up to two seconds earlier what avg10 is going to be.
//
// Not the share of those two seconds by itself: taking back clean page cache for one large
// allocation counts as stalled while nothing else runs, 12 ms a GiB on a GB10, and is no danger.
class LivePressure {
 public:
  // Percent. `now`: seconds of the machine that `line` is of, which must not go back.
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

// /proc/pressure/memory.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace umaprobe {

struct PressureLine {
  double avg10;  // percent of the last 10 s
  double total;  // microseconds since boot
};

// Tasks that waited for memory: at least one, and all of them. Empty: the line is missing, or not
// as the kernel writes it.
struct Pressure {
  std::optional<PressureLine> some, full;
};

Pressure parse_pressure(std::string_view text);

// PSI full avg10 as if the kernel updated it now. The kernel updates it every two seconds
// (kernel/sched/psi.c, PSI_FREQ): avg10 decays by exp(-2/10) and gains the stalled share of those
// two seconds, weighted by the remainder. `total` is current at each reading, so the same formula
// over the last two seconds predicts avg10 up to two seconds early.
//
// The stalled share alone would be misleading: reclaiming clean page cache for one large allocation
// counts as stalled while nothing else runs (12 ms per GiB on a GB10) and is harmless.
class LivePressure {
 public:
  // Returns percent. `now`: machine time of `line` in seconds; must not decrease.
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

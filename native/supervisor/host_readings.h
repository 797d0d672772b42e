// Reads the machine for the judge, without allocating.
#pragma once

#include "guard/readings.h"
#include "host/host.h"
#include "supervisor/reading.h"

namespace umaprobe {

// The bytes of /proc/buddyinfo in blocks of 2 MiB and more, kUnknown if the text has no zone. A
// kernel may have more than the usual eleven columns.
double parse_free_blocks(std::string_view text, double page_size);

class HostReadings {
 public:
  // Below `floor` and some more, MemAvailable is at most 10 ms old; else 50 ms.
  HostReadings(Host& host, double floor);

  // The host's fields of a reading.
  Reading read();

  double time_scale() const { return time_scale_; }

 private:
  void read_meminfo(Reading& reading);

  Host& host_;
  const double floor_;
  const double page_size_;
  const double time_scale_;
  Reading last_;
  LivePressure live_pressure_;
  double read_at_ = 0, read_at_free_ = 0;       // of meminfo: when, and what was free
  double next_pressure_ = 0, next_blocks_ = 0;  // real time in seconds
  bool blocks_ = true;                          // an unprivileged container may have no buddyinfo
};

}  // namespace umaprobe

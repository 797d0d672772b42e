// Reads the machine for the judge, without allocating.
#pragma once

#include "guard/readings.h"
#include "host/host.h"
#include "record/shared_readings.h"
#include "supervisor/reading.h"
#include "supervisor/rules.h"

namespace umaprobe {

// The bytes of /proc/buddyinfo in blocks of 2 MiB and more, kUnknown if the text has no zone. A
// kernel may have more than the usual eleven columns.
double parse_free_blocks(std::string_view text, double page_size);

class HostReadings {
 public:
  // `descriptor`: shared memory of a recorder, or -1.
  HostReadings(Host& host, double floor, const ReadEvery& every, int descriptor);

  // The host's fields of a reading.
  Reading read();

  // For a recorder: it reads itself from now on.
  void end() { shared_.end_writing(); }

  double time_scale() const { return time_scale_; }

 private:
  bool is_due(double now);
  void read_meminfo(Reading& reading, SharedReading& shared);
  void read_pressure(SharedReading& shared);

  Host& host_;
  const ReadEvery every_;
  const double near_below_;  // MemFree
  const double page_size_;
  const double time_scale_;
  Reading last_;
  LivePressure live_pressure_;
  SharedReadings shared_;
  bool records_ = false;
  double read_at_ = 0, read_at_free_ = 0;       // of meminfo: when, and what was free
  double next_pressure_ = 0, next_blocks_ = 0;  // real time in seconds
  bool blocks_ = true;                          // an unprivileged container may have no buddyinfo
};

}  // namespace umaprobe

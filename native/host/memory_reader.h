// What a watcher reads of the machine again and again, without allocating: the guard of a probe,
// the recorder and umaprobe-guard read with this.
#pragma once

#include <memory>

#include "base/unknown.h"
#include "host/host.h"
#include "host/pressure.h"

namespace umaprobe {

// How often the watchers read what they have in common, in seconds.
namespace pace {
// Of /proc/meminfo near the floor, beside a recorder, and of a recorder. While the kernel reclaims
// page cache MemFree may stay where it is, so near the floor MemAvailable is read every 10 ms, and
// at once when MemFree has moved.
inline constexpr double kAvailableNear = 0.01;
// Near is MemFree so many bytes above the floor. MemAvailable is at least MemFree less the kernel's
// reserve, of which 6.2 GiB were seen.
inline constexpr double kNearBytes = 16.0 * (1 << 30);
// MemAvailable leaves out the free pages in the processors' lists, up to an eighth of memory: they
// are read with it, and count; often once it is so near that a guard would act. /proc/zoneinfo
// takes 30 µs on two processors, 70 on 16.
inline constexpr double kLists = 0.1, kListsNear = 0.01;
}  // namespace pace

// Bytes, unless it says otherwise; kUnknown: not read.
struct MemoryReading {
  int64_t at_us = 0;  // CLOCK_BOOTTIME
  double t = 0;       // machine time in seconds
  double available = kUnknown;
  double free = kUnknown;
  double free_in_cpu_lists = kUnknown;  // besides MemAvailable
  double swap_free = kUnknown;
  double swap_total = kUnknown;
  double dirty = kUnknown;
  double free_blocks = kUnknown;  // in blocks of 2 MiB and more
  double pressure = kUnknown;     // PSI full avg10 as of now, percent
  double some_us = kUnknown;      // PSI totals since boot
  double full_us = kUnknown;
  bool has_meminfo = false;  // read at this time; else what was read last
  bool has_pressure = false;

  // What programs can get.
  double left() const {
    return known(free_in_cpu_lists) ? available + free_in_cpu_lists : available;
  }
};

class MemoryReader {
 public:
  // How old each file may be before it is read again, in real seconds; infinite: never read.
  struct Every {
    double available = 0;
    // The same while MemFree is below `near_below`, or has moved so far since.
    double available_near = 0, near_below = 0, moved = 0;
    double pressure = 0, blocks = 0;
    // With MemAvailable, where they are so old; `lists_near` while that is below `lists_below`.
    double lists = 0, lists_near = 0, lists_below = 0;
  };

  MemoryReader(Host& host, const Every& every);

  // Reads what is due.
  const MemoryReading& read();
  // Reads PSI now.
  void read_pressure();
  const MemoryReading& last() const { return last_; }

  // Machine seconds per real second.
  double time_scale() const { return time_scale_; }

 private:
  std::string_view text_of(const char* path);
  bool is_due(double now);
  bool lists_are_due(double now) const;
  void read_meminfo(double now);

  static constexpr size_t kBuffer = 1u << 20;  // zoneinfo of 144 processors takes 0.2 MiB

  Host& host_;
  const Every every_;
  const double page_size_;
  const double time_scale_;
  const std::unique_ptr<char[]> buffer_;
  MemoryReading last_;
  LivePressure live_pressure_;
  double read_at_, read_at_free_ = 0;  // of meminfo: when, and what was free
  double next_pressure_ = 0, next_blocks_ = 0;
  double lists_at_ = 0;
};

}  // namespace umaprobe

// Reads the machine's memory again and again, without allocating, for the guard of a probe, the
// recorder and umaprobe-guard.
#pragma once

#include <memory>

#include "base/unknown.h"
#include "host/host.h"
#include "host/pressure.h"

namespace umaprobe {

// Seconds between the readings that the watchers have in common.
namespace pace {
// For /proc/meminfo near the floor, beside a recorder, and in a recorder. MemFree may stay where it
// is while the kernel reclaims page cache, so MemAvailable is read every 10 ms near the floor, and
// at once when MemFree has moved.
inline constexpr double kAvailableNear = 0.01;
// Memory is near the floor while MemFree is less than this above it. MemAvailable is at least
// MemFree less the kernel's reserve, of which 6.2 GiB were seen.
inline constexpr double kNearBytes = 16.0 * (1 << 30);
// MemAvailable leaves out the free pages in the processors' lists, up to an eighth of memory: the
// watchers read and add them, and do so often once MemAvailable is so low that a guard would act.
// /proc/zoneinfo takes 30 µs on two processors, 70 on 16.
inline constexpr double kLists = 0.1, kListsNear = 0.01;
}  // namespace pace

// A reading in bytes, unless a field says otherwise; kUnknown: not read.
struct MemoryReading {
  int64_t at_us = 0;  // CLOCK_BOOTTIME
  double t = 0;       // machine time in seconds
  double available = kUnknown;
  double free = kUnknown;
  double free_in_cpu_lists = kUnknown;  // free pages that MemAvailable leaves out
  double swap_free = kUnknown;
  double swap_total = kUnknown;
  double dirty = kUnknown;
  double free_blocks = kUnknown;  // free memory in blocks of 2 MiB and more
  double pressure = kUnknown;     // PSI full avg10 as of now, percent
  double some_us = kUnknown;      // PSI totals since boot
  double full_us = kUnknown;
  bool has_meminfo = false;  // meminfo was read this time; otherwise its numbers are the last ones
  bool has_pressure = false;

  // Returns the memory that programs can get.
  double left() const {
    return known(free_in_cpu_lists) ? available + free_in_cpu_lists : available;
  }
};

class MemoryReader {
 public:
  // Age at which each file is read again, in real seconds; infinite: never read.
  struct Every {
    double available = 0;
    // The age while MemFree is below `near_below`; MemFree that has moved by `moved` has it read at
    // once.
    double available_near = 0, near_below = 0, moved = 0;
    double pressure = 0, blocks = 0;
    // The lists are read with MemAvailable at this age; at `lists_near` while MemAvailable is below
    // `lists_below`.
    double lists = 0, lists_near = 0, lists_below = 0;
  };

  MemoryReader(Host& host, const Every& every);

  // Reads the files that are due.
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
  double read_at_, read_at_free_ = 0;  // time of the last meminfo, and its MemFree
  double next_pressure_ = 0, next_blocks_ = 0;
  double lists_at_ = 0;
};

}  // namespace umaprobe

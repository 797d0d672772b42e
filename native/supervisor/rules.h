// What the guard judges by. No value has a default here: lib/memory/guard-rules.ts is the table.
#pragma once

#include <limits>

namespace umaprobe {

// Bytes and seconds of machine time.
struct Rules {
  double floor = 0;         // memory that is left to the host
  double kill_below = 0;    // MemAvailable below it is enough evidence
  double horizon = 0;       // SIGTERM when the floor is nearer at the present slope
  double kill_horizon = 0;  // SIGKILL when it is nearer
  // And when it is nearer in bytes, SIGKILL at half of it: a large allocation of a healthy program
  // is as fast as a fall, and ends.
  double near = std::numeric_limits<double>::infinity();
  double slope_for = 0;      // how long a fall must be seen
  double min_fall = 0;       // a fall by less is noise
  double low_for = 0;        // below the floor, and other evidence
  double pressure_full = 0;  // percent
  double pressure_for = 0;   // pressure alone
  double min_blocks = 0;     // in free blocks of 2 MiB and more
};

// How old each reading may be before it is taken again, in real seconds, if the guard's own
// interval is no longer than that.
struct ReadEvery {
  double available = 0;       // far from the floor
  double available_near = 0;  // near it, or beside a recorder
  // Near: MemFree is less than this above the floor. Then MemAvailable is read as well whenever
  // MemFree has moved by `moved`.
  double near_free = 0;
  double moved = 0;
  double pressure = 0;
  double blocks = 0;
  double group = 0;         // who belongs to the program, and its memory
  double group_urgent = 0;  // while the floor is near at the present slope
};

}  // namespace umaprobe

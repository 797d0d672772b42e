// Measures who holds the machine's memory. A program may have thousands of processes and keep the
// processor busy: a thread of its own counts them, and the guard uses its last result.
#pragma once

#include <array>
#include <mutex>

#include "base/clock.h"
#include "base/monotonic_condition.h"
#include "host/host.h"
#include "run/supervisor/gpu_memory.h"
#include "run/supervisor/processes.h"
#include "run/supervisor/reading.h"
#include "run/supervisor/target.h"

namespace umaprobe {

class GroupMemory {
 public:
  GroupMemory(Host& host, GpuMemory& gpu);

  // Leaves the process out of the target for good.
  void leave_out(pid_t pid) { processes_->leave_out(pid); }
  // Starts the thread, which waits. Must live as long as the process.
  void start();
  // Measures this target, and wants it measured from now on: a fall that begins at once has a
  // reading to be compared with. No descendant of this process is older.
  void begin(const Target& target);

  // Measures as soon as it can.
  void want();
  // Waits until a measurement that began after `since` has ended, but no longer than `most`.
  void wait_for(Clock::time_point since, Clock::duration most);
  // Copies the last measurement; `held` is unchanged before the first has ended.
  void take(Holdings& held);
  // Takes the members of the target at that time, also those whose parents have ended since.
  void take_members(Processes& processes);

  void run();

 private:
  Holdings measure(Clock::time_point begun);

  Host& host_;
  GpuMemory& gpu_;
  const double time_scale_;
  const Target* target_ = nullptr;
  const std::unique_ptr<Processes> processes_;  // only the thread uses it
  std::array<char, 1u << 18> text_{};           // zoneinfo of 144 processors takes 0.2 MiB

  std::mutex mutex_;
  MonotonicCondition wake_, measured_;
  bool wanted_ = false;
  Clock::time_point begun_;  // start of the last measurement that has ended
  Holdings last_;
  const std::unique_ptr<Processes::Members> members_;
};

}  // namespace umaprobe

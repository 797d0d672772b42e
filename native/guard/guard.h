// A thread that watches the machine's memory and stops the allocator without JavaScript: the one
// who allocates may be inside a call, and JavaScript may be blocked.
#pragma once

#include <sys/types.h>

#include "alloc/allocator.h"
#include "base/shared.h"
#include "guard/readings.h"
#include "guard/stall_detector.h"
#include "guard/trip_report.h"
#include "runtime/worker_threads.h"

namespace umaprobe {

struct GuardOptions {
  double floor = 0;         // bytes; 0: does not look
  double pressureFull = 0;  // percent; 0: does not look
  int intervalUs = 0;
  int parent = 0;       // its pid; 0: does not look
  int exitAfterMs = 0;  // 0: never
  int reportFd = -1;    // -1: none
};

struct GuardReport {
  bool running = false;
  double ticks = 0;
  std::optional<double> lowestAvailable;
  std::optional<double> highestPressure;
  double cpuMs = 0;
  std::optional<GuardTrip> trip;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("running", running);
    field("ticks", ticks);
    field.nullable("lowestAvailable", lowestAvailable);
    field.nullable("highestPressure", highestPressure);
    field("cpuMs", cpuMs);
    field.nullable("trip", trip);
  }
};

class FreeAll;

class Guard : public std::enable_shared_from_this<Guard> {
 public:
  // Takes a first reading on this thread: a guard that sees nothing is not started. The allocator
  // may allocate again, whatever an earlier guard has said.
  static Fact<std::shared_ptr<Guard>> start(const GuardOptions& options,
                                            const MachineConfig& config,
                                            std::shared_ptr<Allocator> allocator,
                                            std::shared_ptr<WorkerThreads> workers);
  Guard(const GuardOptions& options, std::unique_ptr<Host> host,
        std::shared_ptr<Allocator> allocator, std::shared_ptr<WorkerThreads> workers);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // From any thread. The thread ends by itself; what it has seen stays.
  void stop();
  GuardReport read() const;

 private:
  void run();
  void tick(Clock::time_point now);
  // MemAvailable, or the last one while so much is free that it cannot have fallen to the floor.
  std::optional<double> available_now(Clock::time_point now);
  const char* reason_to_trip(Clock::time_point now, std::optional<double> available);
  bool orphaned() const;
  void trip(const char* reason, std::optional<double> available, std::optional<double> pressure);
  // After the trip: frees what is not freed yet, and leaves when that does not help.
  void after_trip(Clock::time_point now, std::optional<double> available);
  void free_blocks(Clock::time_point now);
  GuardTrip trip_now() const;
  // Seconds of the machine, which a simulated one counts faster.
  double machine_time(Clock::time_point now) const;

  const GuardOptions options_;
  const std::unique_ptr<Host> host_;
  const double time_scale_;
  const std::shared_ptr<Allocator> allocator_;
  const std::shared_ptr<WorkerThreads> workers_;
  TripReporter reporter_;

  // Of the guard's thread.
  LivePressure live_pressure_;
  StallDetector stall_detector_;
  std::optional<double> pressure_;
  Clock::time_point next_pressure_;
  std::optional<double> available_;
  Clock::time_point next_available_;
  Clock::time_point next_free_;
  std::shared_ptr<FreeAll> freeing_;
  bool recovered_ = false;

  Shared<GuardReport> report_;
  std::atomic<Clock::rep> tripped_at_{0};
  std::shared_ptr<std::atomic<Clock::rep>> freed_at_;

  std::mutex mutex_;
  MonotonicCondition wake_;
  bool stopping_ = false;
};

}  // namespace umaprobe

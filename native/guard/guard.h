// A thread that watches the machine's memory and stops work that takes too much of it. It needs
// no JavaScript: the thread that allocates may be inside a call, and JavaScript may be blocked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/monotonic_condition.h"
#include "base/shared.h"
#include "guard/guarded_work.h"
#include "guard/readings.h"
#include "guard/stall_detector.h"
#include "guard/trip_report.h"
#include "host/host.h"

namespace umaprobe {

struct GuardOptions {
  double floor = 0;         // bytes; 0: not watched
  double pressureFull = 0;  // percent; 0: not watched
  int intervalUs = 0;
  int parent = 0;       // pid; 0: not watched
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

class Guard : public std::enable_shared_from_this<Guard> {
 public:
  // Takes a first reading on the calling thread and fails if it cannot. Resumes `work`, even if an
  // earlier guard has stopped it.
  static Fact<std::shared_ptr<Guard>> start(const GuardOptions& options,
                                            const MachineConfig& config,
                                            std::shared_ptr<GuardedWork> work);
  Guard(const GuardOptions& options, std::unique_ptr<Host> host, std::shared_ptr<GuardedWork> work);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Both on any thread. stop() does not wait for the thread; the report stays.
  void stop();
  GuardReport read() const;

 private:
  void run();
  void tick(Clock::time_point now);
  // MemAvailable, or the last one while MemFree shows that it cannot have fallen to the floor.
  std::optional<double> available_now(Clock::time_point now);
  const char* reason_to_trip(Clock::time_point now, std::optional<double> available);
  bool orphaned() const;
  void trip(const char* reason, std::optional<double> available, std::optional<double> pressure);
  // Runs in each tick after the trip: frees again what is not freed yet, and exits the process if
  // that does not help.
  void after_trip(Clock::time_point now, std::optional<double> available);
  void free_all(Clock::time_point now);
  GuardTrip trip_now() const;
  // Machine time in seconds; a simulated machine's clock may run faster.
  double machine_time(Clock::time_point now) const;

  const GuardOptions options_;
  const std::unique_ptr<Host> host_;
  const double time_scale_;
  const std::shared_ptr<GuardedWork> work_;
  TripReporter reporter_;

  // Used by the guard's thread only.
  LivePressure live_pressure_;
  StallDetector stall_detector_;
  std::optional<double> pressure_;
  Clock::time_point next_pressure_;
  std::optional<double> available_;
  Clock::time_point next_available_;
  Clock::time_point next_free_;
  bool recovered_ = false;

  Shared<GuardReport> report_;
  std::atomic<Clock::rep> tripped_at_{0};

  std::mutex mutex_;
  MonotonicCondition wake_;
  bool stopping_ = false;
};

}  // namespace umaprobe

// A thread that watches the machine's memory and stops work that takes too much of it. It needs
// no JavaScript: the thread that allocates may be inside a call, and JavaScript may be blocked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "base/monotonic_condition.h"
#include "base/shared.h"
#include "guard/guarded_work.h"
#include "guard/rules.h"
#include "guard/stall_detector.h"
#include "guard/trip_report.h"
#include "host/memory_reader.h"

namespace umaprobe {

struct GuardReport {
  bool running = false;
  double ticks = 0;
  double lowestAvailable = kUnknown;
  double highestPressure = kUnknown;
  double cpuMs = 0;
  std::optional<ProbeTrip> trip;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("running", running);
    field("ticks", ticks);
    field.number("lowestAvailable", lowestAvailable);
    field.number("highestPressure", highestPressure);
    field("cpuMs", cpuMs);
    field.nullable("trip", trip);
  }
};

class Guard : public std::enable_shared_from_this<Guard> {
 public:
  // Takes a first reading on the calling thread and fails if it cannot. Resumes `work`, even if an
  // earlier guard has stopped it.
  static Fact<std::shared_ptr<Guard>> start(const ProbeRules& rules, const MachineConfig& config,
                                            std::shared_ptr<GuardedWork> work);
  Guard(const ProbeRules& rules, std::unique_ptr<Host> host, std::shared_ptr<GuardedWork> work);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Both may run on any thread. stop() does not wait for the thread; the report stays.
  void stop();
  GuardReport read() const;

 private:
  void run();
  void tick(Clock::time_point now);
  const char* reason_to_trip(const MemoryReading& seen);
  bool orphaned() const;
  void trip(const char* reason, const MemoryReading& seen);
  // Runs in each tick after the trip: frees again if memory is still held, and exits the process if
  // that does not help.
  void after_trip(Clock::time_point now, const MemoryReading& seen);
  void free_all(Clock::time_point now);
  ProbeTrip trip_now() const;

  const ProbeRules rules_;
  const std::unique_ptr<Host> host_;
  const std::shared_ptr<GuardedWork> work_;
  TripReporter reporter_;

  // Only the guard's thread uses these.
  MemoryReader reader_;
  StallDetector stall_detector_;
  Clock::time_point next_free_;
  bool recovered_ = false;

  Shared<GuardReport> report_;
  std::atomic<Clock::rep> tripped_at_{0};

  std::mutex mutex_;
  MonotonicCondition wake_;
  bool stopping_ = false;
};

}  // namespace umaprobe

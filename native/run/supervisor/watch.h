// The guard at work: reads, judges, stops the program, reports. It is one thread, which allocates
// nothing once the program runs.
#pragma once

#include <signal.h>

#include <memory>

#include "base/clock.h"
#include "run/record/shared_readings.h"
#include "run/supervisor/gpu_memory.h"
#include "run/supervisor/group_memory.h"
#include "run/supervisor/job.h"
#include "run/supervisor/load.h"
#include "run/supervisor/notifier.h"
#include "run/supervisor/options.h"
#include "run/supervisor/processes.h"
#include "run/supervisor/report.h"
#include "run/supervisor/stopper.h"
#include "run/supervisor/target.h"

namespace umaprobe {

class Watch {
 public:
  // `signals`: a descriptor of signalfd(2) with the signals to this process. The watch is never
  // destroyed: its threads may be stuck.
  Watch(const SupervisorOptions& options, const MachineConfig& config, Host& host, Report& report,
        Job& job, Notifier notifier, Descriptor signals);

  // Takes a first reading. Fails if there is no MemAvailable or a file does not answer: then
  // nothing can be watched.
  std::optional<Failure> begin();

  // Watches until the program and all that it started have ended. Returns the exit code of this
  // process; `signal` is then the signal that ended the program, or 0.
  int run(Target target, const char* locked, const char* priority, int& signal);

 private:
  void wait(Clock::duration time);
  void take_signals();
  void take_passed_signals(bool early);
  void take_control();
  void obey(std::string_view line);
  void reap();
  void read();
  void tick(Clock::time_point now);
  void judge(Clock::time_point now);
  void measure_group(Clock::time_point now);
  void take_holdings();
  void act_on(const Verdict& verdict, Clock::time_point now);
  void stop(Level level, const char* reason, Clock::time_point now);
  void next_target(Clock::time_point now);
  void tell(const char* action, const char* reason, int error);
  void notify(Level level, const char* reason);
  void mind_load(Clock::time_point now);
  void mind_parent(Clock::time_point now);
  bool over(Clock::time_point now);
  bool waits_for_job(Clock::time_point now);
  void leave_rest();
  void report_started(const char* locked, const char* priority);
  void report_reading(Clock::time_point now);
  void report_left(bool guards);
  void report_notified(const Notified& notified);
  void report_ended();

  const SupervisorOptions& options_;
  const Rules& rules_;
  const bool simulated_;
  Host& host_;
  Report& report_;
  Job& job_;
  Notifier notifier_;
  const Descriptor signals_;
  Descriptor passed_signals_;
  Descriptor control_;
  const std::unique_ptr<Processes> processes_;
  SharedReadings shared_;
  MemoryReader reader_;
  Judge judge_;
  GpuMemory gpu_memory_;
  GroupMemory group_memory_;
  Target target_;
  TargetList targets_;  // targets of the whole system, in order
  Stopper stopper_;

  Load load_;
  Level told_ = Level::kNone;
  Level missing_told_ = Level::kNone;  // the level at which a missing target was reported
  const char* stop_reason_ = nullptr;
  bool notified_ = false;  // the command has run for this stop
  double left_at_stop_ = kUnknown;
  double left_at_group_ = kUnknown;  // memory left when the program was last measured
  Clock::time_point next_stop_, next_look_;
  int stopped_by_ = 0;         // signal that stopped the program; 0: it is not stopped
  bool job_killed_ = false;    // the process group of umaprobe got SIGKILL
  bool stopped_here_ = false;  // stopped because umaprobe was
  bool ended_ = false;
  int passed_ = 0;  // the newest signal that umaprobe passed on
  bool has_children_ = true;
  bool left_ = false;  // umaprobe has ended with the program
  Clock::time_point ended_at_;
  int exit_code_ = -1;
  int exit_signal_ = 0;

  Reading first_, now_;
  Verdict verdict_;
  Clock::time_point group_at_, next_report_, next_parent_;
  double lowest_available_ = kUnknown, lowest_free_ = kUnknown, highest_pressure_ = kUnknown;
  double peak_group_ = kUnknown, peak_gpu_ = kUnknown;
  unsigned long count_ = 0;
  std::array<char, 8192> line_{};
  size_t line_size_ = 0;
};

}  // namespace umaprobe

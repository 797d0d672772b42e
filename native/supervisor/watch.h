// The guard at work: reads, judges, stops the program, reports. One thread, which allocates nothing
// once the program runs.
#pragma once

#include <signal.h>

#include <memory>

#include "base/clock.h"
#include "record/shared_readings.h"
#include "supervisor/gpu_memory.h"
#include "supervisor/load_actions.h"
#include "supervisor/options.h"
#include "supervisor/processes.h"
#include "supervisor/report.h"
#include "supervisor/stopper.h"
#include "supervisor/target.h"
#include "supervisor/terminal.h"

namespace umaprobe {

class Watch {
 public:
  // `signals`: a descriptor of signalfd(2) with the signals that are passed on, and SIGCHLD.
  // It is never destroyed: its threads may be stuck.
  Watch(const SupervisorOptions& options, const MachineConfig& config, Host& host, Report& report,
        Descriptor signals, Descriptor control);

  // Takes a first reading. False: there is no MemAvailable, and nothing can be watched.
  bool begin();

  // Watches until the program has ended. Returns the exit code of this process; `signal` is then
  // the signal that ended the program, or 0.
  int run(Target target, const Terminal& terminal, const char* locked, int& signal);

 private:
  void wait(Clock::duration time);
  void take_signals();
  void take_control();
  void obey(std::string_view line);
  void reap();
  void read();
  void tick(Clock::time_point now);
  void measure_group(Clock::time_point now);
  void act_on(const Verdict& verdict, Clock::time_point now);
  void stop(Level level, const char* reason, Clock::time_point now);
  void next_target(Clock::time_point now);
  void tell(const char* action, const char* reason, int error);
  void make_room(Clock::time_point now);
  void mind_terminal(Clock::time_point now);
  bool over(Clock::time_point now);
  void report_started(const char* locked);
  void report_reading(Clock::time_point now);
  void report_ended();

  const SupervisorOptions& options_;
  const ProgramRules& rules_;
  Host& host_;
  Report& report_;
  const Descriptor signals_;
  Descriptor control_;
  const std::unique_ptr<Processes> processes_;
  SharedReadings shared_;
  MemoryReader reader_;
  Judge judge_;
  GpuMemory gpu_memory_;
  Target target_;
  TargetList targets_;  // of the whole system, in their order
  Stopper stopper_;
  const Terminal* terminal_ = nullptr;

  std::unique_ptr<LoadActions> load_actions_;  // null: none is wanted
  bool drop_, compact_;                        // false after the load, and once not permitted
  Clock::time_point next_drop_, next_compact_;
  Level told_ = Level::kNone;
  const char* stop_reason_ = nullptr;
  Clock::time_point next_stop_, next_look_;
  bool stopped_ = false;  // by job control
  bool ended_ = false;
  int exit_code_ = -1;
  int exit_signal_ = 0;

  Reading first_, now_;
  Verdict verdict_;
  Clock::time_point group_at_, next_report_, next_terminal_;
  double lowest_available_ = kUnknown, lowest_free_ = kUnknown, highest_pressure_ = kUnknown;
  double peak_group_ = kUnknown, peak_gpu_ = kUnknown;
  unsigned long count_ = 0;
  std::array<char, 8192> line_{};
  size_t line_size_ = 0;
};

}  // namespace umaprobe

// The lines of a watch: its start, a reading now and then, the processes that the program left, and
// the end.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

#include "run/supervisor/watch.h"

namespace umaprobe {

void Watch::report_started(const char* locked, const char* priority) {
  StartedLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.pid = target_.pid() == 0 ? kUnknown : target_.pid();
  const pid_t group = job_.is_shared() ? job_.group() : target_.group();
  line.process_group = target_.is_child() ? group : kUnknown;
  line.cgroup = target_.cgroup();
  line.locked = locked;
  line.priority = priority;
  line.available = first_.left();
  line.free = first_.free;
  report_.write(line);
}

void Watch::report_reading(Clock::time_point now) {
  if (now < next_report_) return;
  next_report_ = now + seconds(rules_.report_s);
  ReadingLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.available = now_.left();
  line.free = now_.free;
  line.group_bytes = now_.held.group;
  line.group_gpu_bytes = now_.held.group_gpu;
  report_.write(line);
}

void Watch::report_left(bool guards) {
  LeftLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  std::array<char, 256> pids;
  size_t size = 0;
  for (const Processes::Member& member : *processes_) {
    if (size + 16 > pids.size()) break;
    size += static_cast<size_t>(
        std::snprintf(pids.data() + size, 16, "%c%d", size == 0 ? '[' : ',', member.pid));
  }
  pids[size++] = ']';
  line.pids = {pids.data(), size};
  line.guard = guards ? ::getpid() : kUnknown;
  report_.write(line);
}

void Watch::report_notified(const Notified& notified) {
  NotifiedLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.exit_code = notified.exit_code;
  line.late = notified.late;
  report_.write(line);
}

void Watch::report_ended() {
  EndedLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.exit_code = exit_code_ < 0 ? kUnknown : exit_code_;
  line.signal = exit_signal_ == 0 ? kUnknown : exit_signal_;
  line.stopped = stopper_.active();
  line.lowest_available = lowest_available_;
  line.lowest_free = lowest_free_;
  line.highest_pressure = highest_pressure_;
  line.peak_group_bytes = peak_group_;
  line.peak_group_gpu_bytes = peak_gpu_;
  line.readings = static_cast<double>(count_);
  line.cpu_ms = cpu_ms(CLOCK_PROCESS_CPUTIME_ID);
  line.before_available = first_.left();
  line.before_free = first_.free;
  report_.ended(line);
}

}  // namespace umaprobe

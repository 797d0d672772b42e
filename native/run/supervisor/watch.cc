#include "run/supervisor/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/digits.h"
#include "base/end_by_signal.h"
#include "base/passed_signal.h"
#include "run/supervisor/small_thread.h"

namespace umaprobe {
namespace {

MemoryReader::Every read_every(const Rules& rules, bool records) {
  constexpr double kAlways = std::numeric_limits<double>::infinity();
  MemoryReader::Every every;
  every.available = rules.read_available_s;
  every.available_near = rules.read_available_near_s;
  every.near_below = records ? kAlways : rules.floor_bytes + rules.read_near_bytes;
  every.moved = rules.read_moved_bytes;
  every.pressure = rules.read_pressure_s;
  every.blocks = rules.read_blocks_s;
  every.lists = rules.read_lists_s;
  every.lists_near = rules.read_lists_near_s;
  // The guard may act below this.
  every.lists_below = rules.floor_bytes + rules.near_bytes;
  return every;
}

// Takes over an inherited descriptor, which the program must not get.
Descriptor inherited(int fd) {
  if (fd < 0) return Descriptor();
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return Descriptor(fd);
}

// Keys and the size of a terminal reach its whole group. A handler of umaprobe may run so late that
// the witness has had a SIGCONT since, and no longer shows the Ctrl-Z.
bool is_of_terminal(const PassedSignal& signal) {
  constexpr int kNumbers[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
  return signal.code == SI_KERNEL &&
         std::find(std::begin(kNumbers), std::end(kNumbers), signal.number) != std::end(kNumbers);
}

}  // namespace

Watch::Watch(const SupervisorOptions& options, const MachineConfig& config, Host& host,
             Report& report, Job& job, Notifier notifier, Descriptor signals)
    : options_(options),
      rules_(options.rules),
      simulated_(config.simulated()),
      host_(host),
      report_(report),
      job_(job),
      notifier_(std::move(notifier)),
      signals_(std::move(signals)),
      passed_signals_(inherited(options.fds.signals)),
      control_(inherited(options.fds.control)),
      processes_(std::make_unique<Processes>(host.page_size())),
      reader_(host,
              read_every(rules_, options.fds.readings >= 0 && shared_.open(options.fds.readings))),
      judge_(rules_),
      gpu_memory_(config, host, rules_.read_gpu_s),
      group_memory_(host, gpu_memory_),
      stopper_(*processes_, rules_),
      load_(options, host, [this](LoadAction action, int error) {
        tell(word_of(action), reason_word::kLoading, error);
      }) {
  processes_->leave_out(job_.witness());
  group_memory_.leave_out(job_.witness());
}

std::optional<Failure> Watch::begin() {
  constexpr size_t kStackBytes = 1u << 20;
  constexpr std::chrono::seconds kLimit(2);
  // Any of the files may be served by FUSE, as by lxcfs in a container, and then it may never
  // answer.
  if (!returns_by(Clock::now() + kLimit, kStackBytes, [this] { read(); })) {
    return Failure{"kernel", "read memory", std::nullopt, "TIMEOUT",
                   "one of /proc/meminfo, /proc/zoneinfo, /proc/buddyinfo and "
                   "/proc/pressure/memory has not answered for 2 s"};
  }
  first_ = now_;
  if (!known(first_.available)) {
    const Fact<std::string> text = read_file(host_, "/proc/meminfo");
    if (const Failure* failure = failure_of(text)) return *failure;
    return Failure{"kernel", "read /proc/meminfo", std::nullopt, "ENODATA",
                   "/proc/meminfo has no MemAvailable line"};
  }
  // These calls allocate the first time.
  gpu_memory_.start();
  group_memory_.start();
  char at[32];
  iso_time(at);
  return std::nullopt;
}

int Watch::run(Target target, const char* locked, const char* priority, int& signal) {
  target_ = std::move(target);
  gpu_memory_.begin();
  // A program that ran already does not load.
  if (!options_.command) load_.end();
  if (!options_.target_system) group_memory_.begin(target_);
  report_started(locked, priority);
  take_passed_signals(true);
  const auto interval = seconds(rules_.interval_s);
  auto next = Clock::now();
  for (auto now = next; !over(now); now = Clock::now()) {
    if (now < next) {
      wait(next - now);
      continue;
    }
    tick(now);
    // Missed readings are skipped.
    next = std::max(next + interval, now);
  }
  shared_.end_writing();
  job_.end_witness();
  target_.remove_cgroup();
  if (left_) return 0;
  if (stopper_.active()) job_.restore_terminal();
  // A unit or a container may end with the guard, and the command with it, so the guard waits.
  for (Notified notified; notifier_.wait(notified);) report_notified(notified);
  report_ended();
  signal = exit_signal_;
  const bool stopped = stopper_.active() && !options_.target_system;
  return stopped ? kExitStopped : std::max(exit_code_, 0);
}

void Watch::wait(Clock::duration time) {
  pollfd ready[] = {{signals_.get(), POLLIN, 0},
                    {control_.get(), POLLIN, 0},
                    {ended_ ? -1 : target_.end_fd(), POLLIN, 0},
                    {passed_signals_.get(), POLLIN, 0},
                    {notifier_.fd(), POLLIN, 0}};
  constexpr long kBillion = 1'000'000'000;
  const long ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  const timespec timeout{ns / kBillion, ns % kBillion};
  if (::ppoll(ready, std::size(ready), &timeout, nullptr) <= 0) return;
  if (ready[0].revents != 0) take_signals();
  if (ready[1].revents != 0) take_control();
  if (ready[2].revents != 0) ended_ = true;
  if (ready[3].revents != 0) take_passed_signals(false);
  if (Notified notified; ready[4].revents != 0) {
    if (notifier_.take(notified)) report_notified(notified);
    // Somebody has ended the notifier.
    if ((ready[4].revents & POLLIN) == 0) notifier_.close();
  }
}

void Watch::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      reap();
    } else if (!target_.is_child()) {
      // The guard does not signal a program that ran already: it leaves it.
      ended_ = true;
    } else if (!ended_) {
      ::kill(target_.pid(), number);
    } else if (left_) {
      has_children_ = false;
    }
  }
}

// `early`: the signals came before the program was there to take them with its group.
void Watch::take_passed_signals(bool early) {
  PassedSignal signal;
  ssize_t count = 0;
  while ((count = ::read(passed_signals_.get(), &signal, sizeof signal)) == sizeof signal) {
    const bool taken = job_.has_taken(signal.number) || is_of_terminal(signal);
    passed_ = signal.number;
    // A child that was not waited for keeps its pid.
    if (!target_.is_child() || ended_ || (taken && !early && job_.is_shared())) continue;
    if (taken && target_.group() != 0) {
      ::kill(-target_.group(), signal.number);
    } else if (signal.code == SI_QUEUE) {
      sigval value{};
      value.sival_ptr = reinterpret_cast<void*>(signal.value);
      ::sigqueue(target_.pid(), signal.number, value);
    } else {
      ::kill(target_.pid(), signal.number);
    }
  }
  if (count == 0) passed_signals_.close();
}

void Watch::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
    const bool has_ended = WIFEXITED(status) || WIFSIGNALED(status);
    if (pid == job_.witness() && has_ended) {
      job_.lose_witness();
      job_killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    if (pid != target_.pid()) continue;
    const bool was_stopped =
        std::exchange(stopped_by_, WIFSTOPPED(status) ? WSTOPSIG(status) : 0) != 0;
    if (stopped_by_ != 0) {
      // The guard's own SIGSTOP has stopped umaprobe already, or umaprobe was continued since.
      if (!stopped_here_ || stopped_by_ != SIGSTOP) job_.tell_parent(stopped_by_, pid);
      continue;
    }
    if (was_stopped) job_.tell_parent(SIGCONT, pid);
    if (!has_ended) continue;
    ended_ = true;
    ended_at_ = Clock::now();
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    exit_signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!waits_for_job(ended_at_)) job_.end_witness();
  }
  has_children_ = pid == 0;
}

void Watch::take_control() {
  for (;;) {
    const ssize_t count =
        ::read(control_.get(), line_.data() + line_size_, line_.size() - line_size_);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      // The parent is gone, and the guard stays.
      control_.close();
      return;
    }
    line_size_ += static_cast<size_t>(count);
    std::string_view text(line_.data(), line_size_);
    for (size_t end; (end = text.find('\n')) != std::string_view::npos;) {
      obey(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    line_size_ = text.size() == line_.size() ? 0 : text.size();
    std::copy(text.begin(), text.begin() + static_cast<ptrdiff_t>(line_size_), line_.begin());
  }
}

void Watch::obey(std::string_view line) {
  std::string_view rest = line;
  if (line == control_word::kLoaded) {
    load_.end();
  } else if (line == control_word::kStop) {
    // The targets of a whole system are not stopped when nobody watches any longer.
    if (options_.target_system) {
      ended_ = true;
    } else {
      stop(Level::kTerm, reason_word::kRequested, Clock::now());
    }
  } else if (take_prefix(rest, control_word::kTargets) && take_prefix(rest, " ")) {
    targets_.set(rest);
  }
}

void Watch::read() {
  static_cast<MemoryReading&>(now_) = reader_.read();
  shared_.write(now_);
}

void Watch::tick(Clock::time_point now) {
  read();
  measure_group(now);
  count_++;
  lowest_available_ = std::fmin(lowest_available_, now_.left());
  lowest_free_ = std::fmin(lowest_free_, now_.free);
  highest_pressure_ = std::fmax(highest_pressure_, now_.pressure);
  judge(now);
  act_on(verdict_, now);
  mind_load(now);
  mind_parent(now);
  report_reading(now);
}

// Measures once more who takes the memory before the program is stopped.
void Watch::judge(Clock::time_point now) {
  verdict_ = judge_.add(now_);
  if (verdict_.level < Level::kTerm || verdict_.level <= told_ || options_.target_system) return;
  group_memory_.want();
  group_memory_.wait_for(now, seconds(rules_.wait_s));
  take_holdings();
  verdict_ = judge_.again(now_.held);
}

void Watch::measure_group(Clock::time_point now) {
  if (options_.target_system) return;
  take_holdings();
  const bool is_still = std::fabs(now_.left() - left_at_group_) < rules_.read_moved_bytes;
  const double every = judge_.wants_group() ? rules_.read_group_urgent_s
                       : is_still           ? rules_.read_group_idle_s
                                            : rules_.read_group_s;
  if (now < group_at_ + seconds(every)) return;
  group_at_ = now;
  left_at_group_ = now_.left();
  group_memory_.want();
}

void Watch::take_holdings() {
  group_memory_.take(now_.held);
  peak_group_ = std::fmax(peak_group_, now_.held.group);
  peak_gpu_ = std::fmax(peak_gpu_, now_.held.group_gpu);
}

void Watch::act_on(const Verdict& verdict, Clock::time_point now) {
  if (verdict.level == Level::kNone) missing_told_ = Level::kNone;
  // The fall goes on after SIGTERM: the floor is worth more than the rest of the grace.
  const bool goes_on =
      now_.left() < rules_.floor_bytes && now_.left() < left_at_stop_ - rules_.crossing_bytes;
  if (stopper_.must_kill(now) || (stopper_.active() && goes_on)) {
    stop(Level::kKill, stop_reason_, now);
  } else if (verdict.level > told_ && now >= next_stop_) {
    told_ = verdict.level;
    if (verdict.level == Level::kWarn) {
      tell(action_word::kWarn, verdict.reason, 0);
    } else {
      stop(verdict.level, verdict.reason, now);
    }
  }
  stopper_.pursue(target_, now);
  if (options_.target_system && stopper_.active()) next_target(now);
}

void Watch::stop(Level level, const char* reason, Clock::time_point now) {
  const bool kill = level == Level::kKill;
  if (!stopper_.advances(kill)) return;
  if (!options_.target_system) {
    group_memory_.take_members(*processes_);
  } else if (!stopper_.active()) {
    target_ = targets_.first(*processes_);
  }
  if (!stopper_.active()) left_at_stop_ = now_.left();
  int error = 0;
  if (!target_) {
    // The guard tries again, and reports it once.
    next_stop_ = now + seconds(rules_.settle_s);
    told_ = Level::kWarn;
    if (level <= missing_told_) return;
    missing_told_ = level;
    error = ESRCH;
  } else {
    missing_told_ = Level::kNone;
    if (!stop_reason_) stop_reason_ = reason;
    if (options_.act) error = stopper_.stop(target_, kill, now);
  }
  tell(word_of(level), reason, error);
  if (options_.act && target_ && error == 0) notify(level, reason);
}

// Runs the command once for each target that is stopped, unless the caller asked for the stop.
void Watch::notify(Level level, const char* reason) {
  if (notified_ || std::strcmp(reason, reason_word::kRequested) == 0) return;
  notified_ = true;
  Notice notice{};
  std::snprintf(notice.action, sizeof notice.action, "%s", word_of(level));
  std::snprintf(notice.reason, sizeof notice.reason, "%s", reason);
  if (options_.target_system)
    std::snprintf(notice.target, sizeof notice.target, "%.255s", target_.cgroup());
  notice.available = now_.left();
  notice.pid = target_.pid();
  notifier_.tell(notice);
}

// Stops one target of the whole system after the other until the memory is back.
void Watch::next_target(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + seconds(rules_.look_s);
  if (!target_.gone(*processes_) && !stopper_.gives_up(now)) return;
  stopper_.reset();
  target_ = Target();
  stop_reason_ = nullptr;
  notified_ = false;
  told_ = Level::kNone;
  next_stop_ = now + seconds(rules_.settle_s);
}

void Watch::tell(const char* action, const char* reason, int error) {
  Action entry{};
  iso_time(entry.at);
  entry.action = action;
  if (options_.target_system && target_)
    std::snprintf(entry.target, sizeof entry.target, "%.255s", target_.cgroup());
  entry.reason = reason;
  entry.dry_run = !options_.act;
  entry.error = error;
  entry.reading = now_;
  entry.others_grew = verdict_.others_grew;
  entry.slope = verdict_.slope;
  entry.seconds_to_floor = verdict_.seconds_to_floor;
  report_.action(entry);
}

void Watch::mind_load(Clock::time_point now) {
  const char* because = load_.tick(now_, now);
  if (!because) return;
  LoadedLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.because = because;
  report_.write(line);
}

void Watch::mind_parent(Clock::time_point now) {
  if (!target_.is_child() || ended_ || now < next_parent_) return;
  next_parent_ = now + seconds(rules_.look_idle_s);
  // SIGKILL to the whole job is for the program as well.
  if (job_killed_ && !job_.has_parent() && target_.group() != 0) ::kill(-target_.group(), SIGKILL);
  if (stopped_by_ != 0) reap();
  const bool stopped = job_.is_stopped();
  if (stopped && stopped_by_ == 0) {
    ::kill(target_.pid(), SIGSTOP);
    stopped_here_ = true;
  } else if (!stopped && stopped_here_) {
    ::kill(target_.pid(), SIGCONT);
    stopped_here_ = false;
  } else if (!stopped && stopped_by_ != 0 && stopped_by_ != SIGSTOP) {
    // The terminal's SIGTSTP, which umaprobe has not handled yet, took the place of the guard's.
    job_.tell_parent(stopped_by_, target_.pid());
  }
}

// Returns whether the program has ended; a program that was stopped has no process left then.
bool Watch::over(Clock::time_point now) {
  if (options_.target_system) return ended_;
  if (stopper_.gives_up(now)) return true;
  const bool is_group = target_.pid() == 0;
  if (ended_ && !stopper_.active()) {
    if (!target_.is_child()) return true;
    if (waits_for_job(now)) return false;
    if (job_.witness() != 0) {
      job_.end_witness();
      reap();
    }
    if (!has_children_) return true;
    // Most processes that outlive their parent do so for a moment only.
    if (!left_ && now >= ended_at_ + seconds(rules_.look_idle_s)) leave_rest();
    return !has_children_;
  }
  if (!(ended_ || is_group) || now < next_look_) return false;
  next_look_ = now + seconds(is_group && !stopper_.active() ? rules_.look_idle_s : rules_.look_s);
  return target_.gone(*processes_);
}

// timeout(1) sends its signal to umaprobe and then to the whole job. The program has ended by the
// first one; the second is for the processes that it left in its group, whose number is free once
// no process is left.
bool Watch::waits_for_job(Clock::time_point now) {
  constexpr std::chrono::milliseconds kLimit(500);
  const pid_t group = target_.group();
  if (job_.witness() == 0 || passed_ == 0 || group == 0) return false;
  if (now > ended_at_ + kLimit || ::kill(-group, 0) != 0) return false;
  if (job_.has_taken(passed_)) ::kill(-group, passed_);
  return true;
}

// The end of the program is the end of umaprobe. This process goes on with the processes that the
// program left, and holds nothing that the shell or a pipe waits for.
void Watch::leave_rest() {
  target_.find(*processes_, true);
  // A simulated machine keeps no process when umaprobe ends.
  const bool guards = options_.act && !simulated_;
  report_left(guards);
  if (!guards) {
    has_children_ = false;
    return;
  }
  report_ended();
  left_ = true;
  load_.end();
  shared_.end_writing();
  report_.leave();
  control_.close();
  passed_signals_.close();
  // The notifier holds the output.
  notifier_.close();
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd <= 2; ++fd) ::dup2(nothing.get(), fd);
  ::setpgid(0, job_.group());
  ::setsid();
  [[maybe_unused]] const int moved = ::chdir("/");
}

}  // namespace umaprobe

#include "supervisor/watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "base/digits.h"

namespace umaprobe {
namespace {

MemoryReader::Every read_every(const ProgramRules& rules, bool records) {
  constexpr double kAlways = std::numeric_limits<double>::infinity();
  MemoryReader::Every every;
  every.available = rules.read_available;
  every.available_near = rules.read_available_near;
  every.near_below = records ? kAlways : rules.floor + rules.read_near;
  every.moved = rules.read_moved;
  every.pressure = rules.read_pressure;
  every.blocks = rules.read_blocks;
  every.lists = rules.read_lists;
  every.lists_near = rules.read_lists_near;
  // From here on it may act.
  every.lists_below = rules.floor + rules.near;
  return every;
}

}  // namespace

Watch::Watch(const SupervisorOptions& options, const MachineConfig& config, Host& host,
             Report& report, Descriptor signals, Descriptor control)
    : options_(options),
      rules_(options.rules),
      host_(host),
      report_(report),
      signals_(std::move(signals)),
      control_(std::move(control)),
      processes_(std::make_unique<Processes>(host.page_size())),
      reader_(host,
              read_every(rules_, options.readings_fd >= 0 && shared_.open(options.readings_fd))),
      judge_(rules_),
      gpu_memory_(config, host, rules_.read_gpu),
      stopper_(*processes_, rules_),
      drop_(options.drop),
      compact_(options.compact) {
  if (options.act && (drop_ || compact_)) load_actions_ = std::make_unique<LoadActions>(host);
}

bool Watch::begin() {
  read();
  first_ = now_;
  if (options_.command) processes_->expect_descendants(::getpid());
  // What allocates at its first call.
  gpu_memory_.start();
  char at[32];
  iso_time(at);
  return known(first_.available);
}

int Watch::run(Target target, const Terminal& terminal, const char* locked, int& signal) {
  target_ = std::move(target);
  terminal_ = &terminal;
  gpu_memory_.begin();
  report_started(locked);
  const auto interval = seconds(rules_.interval);
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
  if (target_.group() != 0) terminal.take_back(target_.group());
  if (stopper_.active()) terminal.restore();
  target_.remove_cgroup();
  report_ended();
  signal = exit_signal_;
  const bool stopped = stopper_.active() && !options_.target_system;
  return stopped ? kExitStopped : std::max(exit_code_, 0);
}

void Watch::wait(Clock::duration time) {
  pollfd ready[] = {{signals_.get(), POLLIN, 0},
                    {control_.get(), POLLIN, 0},
                    {ended_ ? -1 : target_.end_fd(), POLLIN, 0}};
  constexpr long kBillion = 1'000'000'000;
  const long ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  const timespec timeout{ns / kBillion, ns % kBillion};
  if (::ppoll(ready, std::size(ready), &timeout, nullptr) <= 0) return;
  if (ready[0].revents != 0) take_signals();
  if (ready[1].revents != 0) take_control();
  if (ready[2].revents != 0) ended_ = true;
}

void Watch::take_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      reap();
    } else if (target_.group() != 0) {
      ::kill(-target_.group(), number);
    } else {
      // What runs already is not ours to signal: the guard leaves it.
      ended_ = true;
    }
  }
}

void Watch::reap() {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
    if (pid != target_.pid()) continue;
    if (WIFSTOPPED(status)) {
      stopped_ = true;
      terminal_->stop_job(target_.group(), WSTOPSIG(status));
      next_terminal_ = Clock::now() + seconds(rules_.look_idle);
      // The parent stops itself at this line: the terminal must be back by then.
      report_.write(StoppedLine{});
    } else if (WIFCONTINUED(status)) {
      stopped_ = false;
      report_.write(ContinuedLine{});
    } else {
      ended_ = true;
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      exit_signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
  }
}

void Watch::take_control() {
  for (;;) {
    const ssize_t count =
        ::read(control_.get(), line_.data() + line_size_, line_.size() - line_size_);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      // The parent is gone. The guard stays.
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
    drop_ = compact_ = false;
  } else if (line == control_word::kStop) {
    if (options_.target_system) ended_ = true;
    stop(Level::kTerm, reason_word::kRequested, Clock::now());
  } else if (line == control_word::kContinue && target_.group() != 0) {
    terminal_->give(target_.group());
    ::kill(-target_.group(), SIGCONT);
  } else if (take_prefix(rest, control_word::kTargets) && take_prefix(rest, " ")) {
    targets_.set(rest);
  } else if (take_prefix(rest, control_word::kSignal) && take_prefix(rest, " ")) {
    const auto number = take_digits(rest, 10, SIGRTMAX);
    if (number && rest.empty()) target_.signal(*processes_, static_cast<int>(*number));
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
  verdict_ = judge_.add(now_);
  act_on(verdict_, now);
  make_room(now);
  mind_terminal(now);
  report_reading(now);
}

void Watch::measure_group(Clock::time_point now) {
  if (!target_) return;
  const double every = judge_.wants_group() ? rules_.read_group_urgent : rules_.read_group;
  if (now < group_at_ + seconds(every)) return;
  group_at_ = now;
  target_.find(*processes_, false);
  now_.group = processes_->bytes(host_);
  Clock::time_point read_at;
  now_.group_gpu = gpu_memory_.bytes(*processes_, now, read_at);
  now_.group_gpu_at =
      std::chrono::duration<double>(read_at.time_since_epoch()).count() * reader_.time_scale();
  peak_group_ = std::fmax(peak_group_, now_.group);
  peak_gpu_ = std::fmax(peak_gpu_, now_.group_gpu);
}

void Watch::act_on(const Verdict& verdict, Clock::time_point now) {
  if (stopper_.must_kill(now)) {
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
  if (options_.target_system && !stopper_.active()) target_ = targets_.first(*processes_);
  if (!stop_reason_) stop_reason_ = reason;
  int error = 0;
  if (!target_) {
    error = ESRCH;
    next_stop_ = now + seconds(rules_.settle);
    told_ = Level::kNone;
  } else if (options_.act) {
    error = stopper_.stop(target_, kill, now);
  }
  tell(word_of(level), reason, error);
}

// Of the whole system, one after the other is stopped until the memory is back.
void Watch::next_target(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + seconds(rules_.look);
  if (!target_.gone(*processes_) && !stopper_.gives_up(now)) return;
  stopper_.reset();
  target_ = Target();
  stop_reason_ = nullptr;
  told_ = Level::kNone;
  next_stop_ = now + seconds(rules_.settle);
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
  entry.slope = verdict_.slope;
  entry.seconds_to_floor = verdict_.seconds_to_floor;
  report_.action(entry);
}

// Reading files fills the page cache until no block of 2 MiB is free, and the driver's next
// allocation fails although MemAvailable is high. One drop before the launch was not enough.
void Watch::make_room(Clock::time_point now) {
  const auto begin = [&](LoadAction action, Clock::time_point& next) {
    if (now < next) return;
    if (load_actions_ && !load_actions_->begin(action)) return;
    next = now + seconds(rules_.load_every);
    if (!load_actions_) tell(word_of(action), reason_word::kLoading, 0);
  };
  const bool little = now_.free < rules_.load_free;
  if (drop_ && little) begin(LoadAction::kDrop, next_drop_);
  if (compact_ && (little || now_.free_blocks < rules_.min_blocks))
    begin(LoadAction::kCompact, next_compact_);
  LoadAction action = LoadAction::kDrop;
  int error = 0;
  if (!load_actions_ || !load_actions_->ended(action, error)) return;
  tell(word_of(action), reason_word::kLoading, error);
  if (error != 0) (action == LoadAction::kDrop ? drop_ : compact_) = false;
}

void Watch::mind_terminal(Clock::time_point now) {
  if (!*terminal_ || now < next_terminal_ || stopper_.active()) return;
  next_terminal_ = now + seconds(rules_.look_idle);
  if (stopped_ && terminal_->job_is_stopped()) return;
  terminal_->give(target_.group());
  if (stopped_) ::kill(-target_.group(), SIGCONT);
}

// The program has ended; one that was stopped has no process left.
bool Watch::over(Clock::time_point now) {
  if (options_.target_system) return ended_;
  if (stopper_.gives_up(now)) return true;
  const bool is_group = target_.pid() == 0;
  if (ended_ && !stopper_.active()) return true;
  if (!(ended_ || is_group) || now < next_look_) return false;
  next_look_ = now + seconds(is_group && !stopper_.active() ? rules_.look_idle : rules_.look);
  return target_.gone(*processes_);
}

void Watch::report_started(const char* locked) {
  StartedLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.pid = target_.pid() == 0 ? kUnknown : target_.pid();
  line.process_group = target_.group() == 0 ? kUnknown : target_.group();
  line.cgroup = target_.cgroup();
  line.locked = locked;
  line.available = first_.left();
  line.free = first_.free;
  report_.write(line);
}

void Watch::report_reading(Clock::time_point now) {
  if (now < next_report_) return;
  next_report_ = now + seconds(rules_.report);
  ReadingLine line;
  char at[32];
  iso_time(at);
  line.at = at;
  line.available = now_.left();
  line.free = now_.free;
  line.group_bytes = now_.group;
  line.group_gpu_bytes = now_.group_gpu;
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

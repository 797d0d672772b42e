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

using std::chrono::milliseconds;

constexpr int kExitStopped = 6;  // "stopped" of docs/cli.md
constexpr auto kGoneInterval = milliseconds(100);
constexpr auto kTerminalInterval = milliseconds(100);
constexpr auto kLookInterval = milliseconds(20);
// Memory comes back within this time after a target has ended.
constexpr auto kSettle = milliseconds(1000);

Clock::duration seconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
}

double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

}  // namespace

Watch::Watch(const SupervisorOptions& options, const MachineConfig& config, Host& host,
             Report& report, Descriptor signals, Descriptor control)
    : options_(options),
      host_(host),
      report_(report),
      signals_(std::move(signals)),
      control_(std::move(control)),
      processes_(std::make_unique<Processes>(host.page_size())),
      readings_(host, options.rules.floor, options.read_every, options.readings_fd),
      judge_(options.rules),
      gpu_memory_(config, host),
      stopper_(*processes_, seconds(options.grace)),
      drop_(options.drop),
      compact_(options.compact) {
  if (options.act && (drop_ || compact_)) load_actions_ = std::make_unique<LoadActions>(host);
}

bool Watch::begin() {
  first_ = now_ = readings_.read();
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
  const auto interval = seconds(options_.interval);
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
  readings_.end();
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
      next_terminal_ = Clock::now() + kTerminalInterval;
      // The parent stops itself at this line: the terminal must be back by then.
      JsonLine line("stopped");
      report_.write(line);
    } else if (WIFCONTINUED(status)) {
      stopped_ = false;
      JsonLine line("continued");
      report_.write(line);
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
  if (line == "loaded") {
    drop_ = compact_ = false;
  } else if (take_prefix(line, "targets ")) {
    targets_.set(line);
  } else if (line == "stop") {
    if (options_.target_system) ended_ = true;
    stop(Level::kTerm, "requested", Clock::now());
  } else if (take_prefix(line, "signal ")) {
    const auto number = take_digits(line, 10, SIGRTMAX);
    if (number && line.empty()) target_.signal(*processes_, static_cast<int>(*number));
  } else if (line == "continue" && target_.group() != 0) {
    terminal_->give(target_.group());
    ::kill(-target_.group(), SIGCONT);
  }
}

void Watch::tick(Clock::time_point now) {
  const Reading host = readings_.read();
  Reading reading = host;
  reading.group = now_.group;
  reading.group_gpu = now_.group_gpu;
  reading.group_gpu_at = now_.group_gpu_at;
  now_ = reading;
  measure_group(now);
  count_++;
  lowest_available_ = std::fmin(lowest_available_, now_.available);
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
  const ReadEvery& every = options_.read_every;
  if (now < group_at_ + seconds(judge_.wants_group() ? every.group_urgent : every.group)) return;
  group_at_ = now;
  target_.find(*processes_, false);
  now_.group = processes_->bytes(host_);
  Clock::time_point read_at;
  now_.group_gpu = gpu_memory_.bytes(*processes_, now, read_at);
  now_.group_gpu_at =
      std::chrono::duration<double>(read_at.time_since_epoch()).count() * readings_.time_scale();
  peak_group_ = std::fmax(peak_group_, now_.group);
  peak_gpu_ = std::fmax(peak_gpu_, now_.group_gpu);
}

void Watch::act_on(const Verdict& verdict, Clock::time_point now) {
  if (stopper_.must_kill(now)) {
    stop(Level::kKill, stop_reason_, now);
  } else if (verdict.level > told_ && now >= next_stop_) {
    told_ = verdict.level;
    if (verdict.level == Level::kWarn) {
      tell("warn", verdict.reason, 0);
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
    next_stop_ = now + kSettle;
    told_ = Level::kNone;
  } else if (options_.act) {
    error = stopper_.stop(target_, kill, now);
  }
  tell(kill ? "kill" : "term", reason, error);
}

// Of the whole system, one after the other is stopped until the memory is back.
void Watch::next_target(Clock::time_point now) {
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  if (!target_.gone(*processes_) && !stopper_.gives_up(now)) return;
  stopper_.reset();
  target_ = Target();
  stop_reason_ = nullptr;
  told_ = Level::kNone;
  next_stop_ = now + kSettle;
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
    next = now + seconds(options_.load_every);
    if (!load_actions_) tell(action == LoadAction::kDrop ? "drop" : "compact", "loading", 0);
  };
  const bool little = now_.free < options_.load_free;
  if (drop_ && little) begin(LoadAction::kDrop, next_drop_);
  if (compact_ && (little || now_.free_blocks < options_.rules.min_blocks))
    begin(LoadAction::kCompact, next_compact_);
  LoadAction action = LoadAction::kDrop;
  int error = 0;
  if (!load_actions_ || !load_actions_->ended(action, error)) return;
  const bool drop = action == LoadAction::kDrop;
  tell(drop ? "drop" : "compact", "loading", error);
  if (error != 0) (drop ? drop_ : compact_) = false;
}

void Watch::mind_terminal(Clock::time_point now) {
  if (!*terminal_ || now < next_terminal_ || stopper_.active()) return;
  next_terminal_ = now + kTerminalInterval;
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
  next_look_ = now + (is_group && !stopper_.active() ? kGoneInterval : kLookInterval);
  return target_.gone(*processes_);
}

void Watch::report_started(const char* locked) {
  JsonLine line("started");
  char at[32];
  iso_time(at);
  line.text("at", at)
      .number("pid", target_.pid() == 0 ? kUnknown : target_.pid())
      .number("processGroup", target_.group() == 0 ? kUnknown : target_.group())
      .text("cgroup", target_.cgroup())
      .text("locked", locked)
      .number("available", first_.available)
      .number("free", first_.free);
  report_.write(line);
}

void Watch::report_reading(Clock::time_point now) {
  if (now < next_report_) return;
  next_report_ = now + seconds(options_.report);
  JsonLine line("reading");
  char at[32];
  iso_time(at);
  line.text("at", at)
      .number("available", now_.available)
      .number("free", now_.free)
      .number("groupBytes", now_.group)
      .number("groupGpuBytes", now_.group_gpu);
  report_.write(line);
}

void Watch::report_ended() {
  JsonLine line("ended");
  char at[32];
  iso_time(at);
  line.text("at", at)
      .number("exitCode", exit_code_ < 0 ? kUnknown : exit_code_)
      .number("signal", exit_signal_ == 0 ? kUnknown : exit_signal_)
      .boolean("stopped", stopper_.active())
      .number("lowestAvailable", lowest_available_)
      .number("lowestFree", lowest_free_)
      .number("highestPressure", highest_pressure_, 2)
      .number("peakGroupBytes", peak_group_)
      .number("peakGroupGpuBytes", peak_gpu_)
      .number("readings", static_cast<double>(count_))
      .number("cpuMs", cpu_ms(), 3)
      .number("beforeAvailable", first_.available)
      .number("beforeFree", first_.free);
  report_.ended(line);
}

}  // namespace umaprobe

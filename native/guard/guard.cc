#include "guard/guard.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "base/failure.h"
#include "runtime/thread_priority.h"

namespace umaprobe {

namespace {

constexpr int kExitCode = 6;  // Exit code "stopped" of docs/cli.md.
constexpr auto kPressureInterval = std::chrono::milliseconds(20);
constexpr auto kFreeRetryInterval = std::chrono::milliseconds(100);

Failure start_failure(int error, const std::string& message) {
  Failure failure = errno_failure("umaprobe", "guardStart", error);
  failure.message = message;
  return failure;
}

std::optional<double> ms_between(Clock::time_point from, std::optional<Clock::time_point> to) {
  if (!to) return std::nullopt;
  const Clock::duration between = std::max(*to - from, Clock::duration::zero());
  return std::chrono::duration<double, std::milli>(between).count();
}

}  // namespace

Fact<std::shared_ptr<Guard>> Guard::start(const GuardOptions& options, const MachineConfig& config,
                                          std::shared_ptr<GuardedWork> work) {
  const bool valid = options.floor >= 0 && options.pressureFull >= 0 &&
                     options.intervalUs >= 1000 && options.intervalUs <= 1'000'000 &&
                     options.exitAfterMs >= 0 && options.parent >= 0;
  if (!valid) {
    return start_failure(EINVAL,
                         "floor, pressureFull, parent and exitAfterMs must be at least 0, "
                         "intervalUs from 1000 to 1000000");
  }
  std::unique_ptr<Host> host = open_host(config);
  if (options.floor > 0 && !read_available(*host)) {
    Fact<std::string> text = read_file(*host, "/proc/meminfo");
    if (Failure* failure = std::get_if<Failure>(&text)) return std::move(*failure);
    return start_failure(ENODATA,
                         "/proc/meminfo has no MemAvailable line: a floor cannot be watched");
  }
  auto guard = std::make_shared<Guard>(options, std::move(host), std::move(work));
  if (options.reportFd >= 0) {
    if (const int error = guard->reporter_.open(options.reportFd)) {
      return start_failure(error,
                           "descriptor " + std::to_string(options.reportFd) + " is not open");
    }
  }
  guard->work_->resume();
  guard->report_.update([](GuardReport& report) { report.running = true; });
  try {
    std::thread([guard] { guard->run(); }).detach();
  } catch (const std::system_error& error) {
    return start_failure(error.code().value(), "the system cannot start another thread");
  }
  return guard;
}

Guard::Guard(const GuardOptions& options, std::unique_ptr<Host> host,
             std::shared_ptr<GuardedWork> work)
    : options_(options),
      host_(std::move(host)),
      time_scale_(host_->time_scale()),
      work_(std::move(work)),
      stall_detector_(options.floor, options.pressureFull) {}

void Guard::stop() {
  report_.update([](GuardReport& report) { report.running = false; });
  std::lock_guard<std::mutex> lock(mutex_);
  stopping_ = true;
  wake_.notify();
}

GuardReport Guard::read() const {
  GuardReport report = report_.read([](const GuardReport& value) { return value; });
  if (report.trip) report.trip = trip_now();
  return report;
}

void Guard::run() {
  // A tick takes some 20 µs.
  raise_priority("umaprobe-guard");
  const auto interval = std::chrono::microseconds(options_.intervalUs);
  std::unique_lock<std::mutex> lock(mutex_);
  for (auto next = Clock::now(); !stopping_;) {
    const auto now = Clock::now();
    if (now < next) {
      wake_.wait_until(lock, next);
      continue;
    }
    lock.unlock();
    tick(now);
    lock.lock();
    // Missed ticks are skipped.
    next = std::max(next + interval, Clock::now());
  }
}

void Guard::tick(Clock::time_point now) {
  const std::optional<double> available = available_now(now);
  if (now >= next_pressure_) {
    next_pressure_ = now + kPressureInterval;
    const std::optional<PressureLine> full = read_full_pressure(*host_);
    pressure_ = full ? std::optional(live_pressure_.add(machine_time(now), *full)) : std::nullopt;
  }
  const bool tripped = tripped_at_.load() != 0;
  if (tripped) {
    after_trip(now, available);
  } else if (const char* reason = reason_to_trip(now, available)) {
    trip(reason, available, pressure_);
  }
  report_.update([&](GuardReport& report) {
    report.ticks++;
    report.cpuMs = thread_cpu_ms();
    if (available) {
      report.lowestAvailable = std::min(report.lowestAvailable.value_or(*available), *available);
    }
    if (pressure_) {
      report.highestPressure = std::max(report.highestPressure.value_or(*pressure_), *pressure_);
    }
  });
}

// /proc/meminfo costs 20 µs, sysinfo(2) one. MemAvailable is at least MemFree minus the kernel's
// reserve: some hundred MiB, 6.2 GiB on a machine whose min_free_kbytes was raised to 4 GiB. While
// MemFree is farther than that above the floor, every fourth tick reads MemAvailable.
std::optional<double> Guard::available_now(Clock::time_point now) {
  constexpr double kAmple = 16.0 * (1u << 30);
  if (now < next_available_ && tripped_at_.load() == 0) {
    const std::optional<double> free = host_->free_memory();
    if (free && *free > options_.floor + kAmple) return available_;
  }
  next_available_ = now + kPressureInterval;
  return available_ = read_available(*host_);
}

const char* Guard::reason_to_trip(Clock::time_point now, std::optional<double> available) {
  const bool stalled =
      stall_detector_.stalled(machine_time(now), available, pressure_, work_->busy());
  if (available && *available < options_.floor) return "floor";
  if (stalled) return "pressure";
  return orphaned() ? "parent" : nullptr;
}

// Compares with the pid that the caller expects, so a parent that died before this thread started
// is detected as well.
bool Guard::orphaned() const { return options_.parent != 0 && ::getppid() != options_.parent; }

double Guard::machine_time(Clock::time_point now) const {
  return std::chrono::duration<double>(now.time_since_epoch()).count() * time_scale_;
}

void Guard::trip(const char* reason, std::optional<double> available,
                 std::optional<double> pressure) {
  const auto now = Clock::now();
  {
    // Not after Guard::stop(): another guard may watch the work by then.
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    tripped_at_.store(now.time_since_epoch().count());
    work_->stop();
  }
  report_.update([&](GuardReport& report) {
    report.trip = GuardTrip{reason, available, pressure, std::nullopt, std::nullopt};
  });
  free_all(now);
  reporter_.write(trip_now(), now, false);
}

void Guard::after_trip(Clock::time_point now, std::optional<double> available) {
  const bool freed = work_->freed_at().has_value();
  if (!freed && now >= next_free_ && !work_->freeing()) free_all(now);
  const bool above = options_.floor == 0 || (available && *available >= options_.floor);
  // Everything is freed and memory is back: a later shortage has another cause.
  if (above && work_->freed_at()) recovered_ = true;
  const auto tripped = Clock::time_point(Clock::duration(tripped_at_.load()));
  if (options_.exitAfterMs == 0 || now - tripped < std::chrono::milliseconds(options_.exitAfterMs))
    return;
  const GuardTrip current = trip_now();
  // A call does not return under pressure: only the exit of the process frees its memory.
  const bool blocked = current.reason == std::string_view("pressure") && !current.stoppedAfterMs;
  if (!orphaned() && (recovered_ || (above && !blocked))) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  reporter_.write(current, tripped, true);
  ::_exit(kExitCode);
}

void Guard::free_all(Clock::time_point now) {
  next_free_ = now + kFreeRetryInterval;
  work_->free_all(now);
}

GuardTrip Guard::trip_now() const {
  GuardTrip trip = report_.read([](const GuardReport& report) { return *report.trip; });
  const auto tripped = Clock::time_point(Clock::duration(tripped_at_.load()));
  trip.stoppedAfterMs = ms_between(tripped, work_->idle_since());
  trip.freedAfterMs = ms_between(tripped, work_->freed_at());
  return trip;
}

}  // namespace umaprobe

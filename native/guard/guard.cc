#include "guard/guard.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "base/end_by_signal.h"
#include "base/failure.h"
#include "runtime/thread_priority.h"

namespace umaprobe {

namespace {

Failure start_failure(int error, const std::string& message) {
  Failure failure = errno_failure("umaprobe", "guardStart", error);
  failure.message = message;
  return failure;
}

double ms_between(Clock::time_point from, std::optional<Clock::time_point> to) {
  if (!to) return kUnknown;
  const Clock::duration between = std::max(*to - from, Clock::duration::zero());
  return std::chrono::duration<double, std::milli>(between).count();
}

MemoryReader::Every read_every(const ProbeRules& rules) {
  MemoryReader::Every every;
  every.available = probe_rule::kReadAvailableSeconds;
  every.near_below = rules.floor_bytes + pace::kNearBytes;
  every.pressure = probe_rule::kReadPressureSeconds;
  every.blocks = std::numeric_limits<double>::infinity();
  every.lists = pace::kLists;
  every.lists_near = pace::kListsNear;
  every.lists_below = rules.floor_bytes;
  return every;
}

// Returns what is wrong with the rules, in one line; empty: nothing.
std::string wrong_rule(const ProbeRules& rules) {
  for (const Given<ProbeRules>& given : kProbeRules) {
    const double value = rules.*given.value / given.scale;
    if (!(value >= given.least && value <= given.most))
      return std::string(given.name) + " must be " + range_of(given);
  }
  return "";
}

}  // namespace

Fact<std::shared_ptr<Guard>> Guard::start(const ProbeRules& rules, const MachineConfig& config,
                                          std::shared_ptr<GuardedWork> work) {
  if (const std::string wrong = wrong_rule(rules); !wrong.empty())
    return start_failure(EINVAL, wrong);
  std::unique_ptr<Host> host = open_host(config);
  auto guard = std::make_shared<Guard>(rules, std::move(host), std::move(work));
  if (rules.floor_bytes > 0 && !known(guard->reader_.read().available)) {
    Fact<std::string> text = read_file(*guard->host_, "/proc/meminfo");
    if (Failure* failure = std::get_if<Failure>(&text)) return std::move(*failure);
    return start_failure(ENODATA,
                         "/proc/meminfo has no MemAvailable line: a floor cannot be watched");
  }
  if (const int fd = static_cast<int>(rules.report_fd); fd >= 0) {
    if (const int error = guard->reporter_.open(fd))
      return start_failure(error, "descriptor " + std::to_string(fd) + " is not open");
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

Guard::Guard(const ProbeRules& rules, std::unique_ptr<Host> host, std::shared_ptr<GuardedWork> work)
    : rules_(rules),
      host_(std::move(host)),
      work_(std::move(work)),
      reader_(*host_, read_every(rules_)),
      stall_detector_(rules_) {}

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
  const auto interval = seconds(probe_rule::kIntervalSeconds);
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
  const MemoryReading& seen = reader_.read();
  if (tripped_at_.load() != 0) {
    after_trip(now, seen);
  } else if (const char* reason = reason_to_trip(seen)) {
    trip(reason, seen);
  }
  report_.update([&](GuardReport& report) {
    report.ticks++;
    report.cpuMs = cpu_ms(CLOCK_THREAD_CPUTIME_ID);
    report.lowestAvailable = std::fmin(report.lowestAvailable, seen.available);
    report.highestPressure = std::fmax(report.highestPressure, seen.pressure);
  });
}

const char* Guard::reason_to_trip(const MemoryReading& seen) {
  const bool stalled = stall_detector_.stalled(seen.t, seen.left(), seen.pressure, work_->busy());
  if (seen.left() < rules_.floor_bytes) return reason_word::kFloor;
  if (stalled) return reason_word::kPressure;
  return orphaned() ? reason_word::kParent : nullptr;
}

// Compares with the pid that the caller expects, so a parent that died before this thread started
// is detected as well.
bool Guard::orphaned() const { return rules_.parent != 0 && ::getppid() != rules_.parent; }

void Guard::trip(const char* reason, const MemoryReading& seen) {
  const auto now = Clock::now();
  {
    // The guard does not act after Guard::stop(): another guard may watch the work by then.
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    tripped_at_.store(now.time_since_epoch().count());
    work_->stop();
  }
  report_.update([&](GuardReport& report) {
    ProbeTrip& trip = report.trip.emplace();
    trip.reason = reason;
    trip.available = seen.available;
    trip.free_in_cpu_lists = seen.free_in_cpu_lists;
    trip.pressure_full = seen.pressure;
    trip.at_ms = std::chrono::duration<double, std::milli>(now.time_since_epoch()).count();
  });
  free_all(now);
  reporter_.write(trip_now());
}

void Guard::after_trip(Clock::time_point now, const MemoryReading& seen) {
  const bool freed = work_->freed_at().has_value();
  if (!freed && now >= next_free_ && !work_->freeing()) free_all(now);
  const bool above = rules_.floor_bytes == 0 || seen.left() >= rules_.floor_bytes;
  // Everything is freed and memory is back: a later shortage has another cause.
  if (above && work_->freed_at()) recovered_ = true;
  const auto tripped = Clock::time_point(Clock::duration(tripped_at_.load()));
  if (rules_.exit_after_s == 0 || now - tripped < seconds(rules_.exit_after_s)) return;
  ProbeTrip current = trip_now();
  // A call does not return under pressure: only the exit of the process frees its memory.
  const bool blocked = std::string_view(current.reason) == reason_word::kPressure &&
                       !known(current.stopped_after_ms);
  if (!orphaned() && (recovered_ || (above && !blocked))) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  current.left = true;
  reporter_.write(current);
  ::_exit(kExitStopped);
}

void Guard::free_all(Clock::time_point now) {
  next_free_ = now + seconds(probe_rule::kFreeEverySeconds);
  work_->free_all(now);
}

ProbeTrip Guard::trip_now() const {
  ProbeTrip trip = report_.read([](const GuardReport& report) { return *report.trip; });
  const auto tripped = Clock::time_point(Clock::duration(tripped_at_.load()));
  trip.stopped_after_ms = ms_between(tripped, work_->idle_since());
  trip.freed_after_ms = ms_between(tripped, work_->freed_at());
  return trip;
}

}  // namespace umaprobe

#include "guard/guard.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/failure.h"

namespace umaprobe {

// The lane frees everything for the guard. Nobody waits for it with a promise.
class FreeAll final : public Task {
 public:
  FreeAll(std::shared_ptr<Allocator> allocator, std::shared_ptr<std::atomic<Clock::rep>> freed_at)
      : allocator_(std::move(allocator)), freed_at_(std::move(freed_at)) {}

  void run(CallContext& context) override {
    const Fact<Freed> freed = allocator_->free_all(context);
    if (!failure_of(freed)) freed_at_->store(Clock::now().time_since_epoch().count());
  }
  void complete(std::optional<Failure>) override { over_.store(true); }
  // Done, failed, or refused by a lane that is stuck: may be tried again.
  bool over() const { return over_.load(); }

 private:
  const std::shared_ptr<Allocator> allocator_;
  const std::shared_ptr<std::atomic<Clock::rep>> freed_at_;
  std::atomic<bool> over_{false};
};

namespace {

constexpr int kExitCode = 6;  // "stopped by a floor or guard", see docs
constexpr auto kPressureEvery = std::chrono::milliseconds(20);
constexpr auto kFreeAgainEvery = std::chrono::milliseconds(100);
constexpr auto kFreeLimit = std::chrono::minutes(10);

Failure refused(int error, const std::string& message) {
  Failure failure = errno_failure("umaprobe", "guardStart", error);
  failure.message = message;
  return failure;
}

// Best effort. What the guard does in a tick takes some 20 µs; that it is done at once also when
// all cores are busy is what it is for.
void raise_priority() {
  pthread_setname_np(pthread_self(), "umaprobe-guard");
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; 50,000 by default
  sched_param first{};
  first.sched_priority = sched_get_priority_min(SCHED_RR);
  if (pthread_setschedparam(pthread_self(), SCHED_RR, &first) == 0) return;
  // Of this thread alone: on Linux nice values belong to threads.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), -20);
}

double thread_cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

std::optional<double> ms_between(Clock::rep from, Clock::rep to) {
  if (to == 0) return std::nullopt;
  const Clock::duration between(std::max<Clock::rep>(to - from, 0));
  return std::chrono::duration<double, std::milli>(between).count();
}

}  // namespace

Fact<std::shared_ptr<Guard>> Guard::start(const GuardOptions& options, const MachineConfig& config,
                                          std::shared_ptr<Allocator> allocator,
                                          std::shared_ptr<WorkerThreads> workers) {
  const bool sound = options.floor >= 0 && options.pressureFull >= 0 &&
                     options.intervalUs >= 1000 && options.intervalUs <= 1'000'000 &&
                     options.exitAfterMs >= 0 && options.parent >= 0;
  if (!sound) {
    return refused(
        EINVAL,
        "floor, pressureFull, parent and exitAfterMs from 0, intervalUs from 1000 to 1000000");
  }
  std::unique_ptr<Host> host = open_host(config);
  if (options.floor > 0 && !read_available(*host)) {
    Fact<std::string> text = read_file(*host, "/proc/meminfo");
    if (Failure* failure = std::get_if<Failure>(&text)) return std::move(*failure);
    return refused(ENODATA, "/proc/meminfo has no MemAvailable line: there is no floor to watch");
  }
  auto guard =
      std::make_shared<Guard>(options, std::move(host), std::move(allocator), std::move(workers));
  if (options.reportFd >= 0) {
    if (const int error = guard->reporter_.open(options.reportFd)) {
      return refused(error, "descriptor " + std::to_string(options.reportFd) + " is not open");
    }
  }
  guard->allocator_->stop_source().reset();
  guard->report_.update([](GuardReport& report) { report.running = true; });
  try {
    std::thread([guard] { guard->run(); }).detach();
  } catch (const std::system_error& error) {
    return refused(error.code().value(), "no more threads");
  }
  return guard;
}

Guard::Guard(const GuardOptions& options, std::unique_ptr<Host> host,
             std::shared_ptr<Allocator> allocator, std::shared_ptr<WorkerThreads> workers)
    : options_(options),
      host_(std::move(host)),
      time_scale_(host_->time_scale()),
      allocator_(std::move(allocator)),
      workers_(std::move(workers)),
      stall_detector_(options.floor, options.pressureFull),
      freed_at_(std::make_shared<std::atomic<Clock::rep>>(0)) {}

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
  raise_priority();
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
    // Ticks that were missed are not made up for.
    next = std::max(next + interval, Clock::now());
  }
}

void Guard::tick(Clock::time_point now) {
  const std::optional<double> available = available_now(now);
  if (now >= next_pressure_) {
    next_pressure_ = now + kPressureEvery;
    const std::optional<PressureLine> full = read_full(*host_);
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

// The whole of /proc/meminfo costs 20 µs where sysinfo costs one. MemAvailable is above MemFree
// less what the kernel keeps for itself: some hundred MiB, 6.2 GiB on a machine whose
// min_free_kbytes was raised to 4 GiB. With more than that free above the floor every fourth tick
// is enough.
std::optional<double> Guard::available_now(Clock::time_point now) {
  constexpr double kAmple = 16.0 * (1u << 30);
  if (now < next_available_ && tripped_at_.load() == 0) {
    const std::optional<double> free = host_->free_memory();
    if (free && *free > options_.floor + kAmple) return available_;
  }
  next_available_ = now + kPressureEvery;
  return available_ = read_available(*host_);
}

const char* Guard::reason_to_trip(Clock::time_point now, std::optional<double> available) {
  const bool working = allocator_->stop_source().working();
  const bool stalled = stall_detector_.stalled(machine_time(now), available, pressure_, working);
  if (available && *available < options_.floor) return "floor";
  if (stalled) return "pressure";
  return orphaned() ? "parent" : nullptr;
}

// Held against the pid that the caller was told: a parent that died before this thread began is
// noticed, too.
bool Guard::orphaned() const { return options_.parent != 0 && ::getppid() != options_.parent; }

double Guard::machine_time(Clock::time_point now) const {
  return std::chrono::duration<double>(now.time_since_epoch()).count() * time_scale_;
}

void Guard::trip(const char* reason, std::optional<double> available,
                 std::optional<double> pressure) {
  const auto now = Clock::now();
  {
    // Not after stop(): the allocator may be another guard's by then.
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    tripped_at_.store(now.time_since_epoch().count());
    allocator_->stop_source().stop();
  }
  report_.update([&](GuardReport& report) {
    report.trip = GuardTrip{reason, available, pressure, std::nullopt, std::nullopt};
  });
  free_blocks(now);
  reporter_.write(trip_now(), now, false);
}

void Guard::after_trip(Clock::time_point now, std::optional<double> available) {
  if (freed_at_->load() == 0 && now >= next_free_ && (!freeing_ || freeing_->over())) {
    free_blocks(now);
  }
  const bool above = options_.floor == 0 || (available && *available >= options_.floor);
  // Nothing is held and nothing is short any more: what comes later is somebody else's doing.
  if (above && freed_at_->load() != 0) recovered_ = true;
  const auto tripped = Clock::time_point(Clock::duration(tripped_at_.load()));
  if (options_.exitAfterMs == 0 || now - tripped < std::chrono::milliseconds(options_.exitAfterMs))
    return;
  const GuardTrip so_far = trip_now();
  // A call that does not end under pressure: only leaving takes its memory away.
  const bool blocked = so_far.reason == std::string_view("pressure") && !so_far.stoppedAfterMs;
  if (!orphaned() && (recovered_ || (above && !blocked))) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  reporter_.write(so_far, tripped, true);
  ::_exit(kExitCode);
}

void Guard::free_blocks(Clock::time_point now) {
  next_free_ = now + kFreeAgainEvery;
  const bool nothing = allocator_->live().first == 0 && trip_now().stoppedAfterMs;
  if (nothing) {
    freed_at_->store(now.time_since_epoch().count());
    return;
  }
  freeing_ = std::make_shared<FreeAll>(allocator_, freed_at_);
  try {
    workers_->submit(WorkerId::kCuda, freeing_, kFreeLimit);
  } catch (const std::system_error&) {  // no more threads: there is one, or nothing to free
    freeing_.reset();
  }
}

GuardTrip Guard::trip_now() const {
  GuardTrip trip = report_.read([](const GuardReport& report) { return *report.trip; });
  const Clock::rep tripped = tripped_at_.load();
  const Clock::rep idle = allocator_->stop_source().idle_since().time_since_epoch().count();
  trip.stoppedAfterMs = ms_between(tripped, idle);
  trip.freedAfterMs = ms_between(tripped, freed_at_->load());
  return trip;
}

}  // namespace umaprobe

#include "run/supervisor/group_memory.h"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "host/free_pages.h"
#include "host/meminfo.h"
#include "run/supervisor/small_thread.h"
#include "runtime/thread_priority.h"

namespace umaprobe {
namespace {

// Pause before the next measurement, in durations of the last one.
constexpr int kRest = 4;

struct MachineMemory {
  double available, anonymous, shared;
};

std::string_view read_text(Host& host, const char* path, char* buffer, size_t size) {
  const long length = host.read(path, buffer, size);
  return {buffer, static_cast<size_t>(std::max(length, 0L))};
}

MachineMemory read_machine(Host& host, char* buffer, size_t size) {
  double numbers[kMeminfoFields];
  parse_meminfo(read_text(host, "/proc/meminfo", buffer, size), numbers);
  return {numbers[meminfo_slot("available")], numbers[meminfo_slot("anonPages")],
          numbers[meminfo_slot("shmem")]};
}

}  // namespace

GroupMemory::GroupMemory(Host& host, GpuMemory& gpu)
    : host_(host),
      gpu_(gpu),
      time_scale_(host.time_scale()),
      processes_(std::make_unique<Processes>(host.page_size())),
      members_(std::make_unique<Processes::Members>()) {}

void GroupMemory::start() {
  processes_->expect_descendants(::getpid());
  constexpr size_t kStackBytes = 256u << 10;
  start_small_thread(this, kStackBytes);
}

void GroupMemory::begin(const Target& target) {
  const std::lock_guard<std::mutex> lock(mutex_);
  target_ = &target;
  begun_ = Clock::now();
  last_ = measure(begun_);
  members_->take(processes_->members());
}

void GroupMemory::want() {
  const std::lock_guard<std::mutex> lock(mutex_);
  wanted_ = true;
  wake_.notify();
}

void GroupMemory::wait_for(Clock::time_point since, Clock::duration most) {
  const auto until = Clock::now() + most;
  std::unique_lock<std::mutex> lock(mutex_);
  while (begun_ < since && Clock::now() < until) measured_.wait_until(lock, until);
}

void GroupMemory::take(Holdings& held) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known(last_.t)) held = last_;
}

void GroupMemory::take_members(Processes& processes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  processes.take_members(*members_);
}

void GroupMemory::run() {
  // The owner of the memory decides whether the program is stopped, so it must be known in time.
  raise_priority("umaprobe-group");
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      while (!target_ || !wanted_) wake_.wait(lock);
      wanted_ = false;
    }
    const auto begun = Clock::now();
    const Holdings held = measure(begun);
    const auto took = Clock::now() - begun;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      last_ = held;
      members_->take(processes_->members());
      begun_ = begun;
      measured_.notify();
    }
    std::this_thread::sleep_for(kRest * took);
  }
}

// Anonymous memory belongs to a process; of shared memory only a control group tells whose it is.
Holdings GroupMemory::measure(Clock::time_point begun) {
  Holdings held;
  const auto machine_time = [this](Clock::time_point at) {
    return std::chrono::duration<double>(at.time_since_epoch()).count() * time_scale_;
  };
  held.t = machine_time(begun);
  const MachineMemory before = read_machine(host_, text_.data(), text_.size());
  target_->find(*processes_, false);
  CgroupMemory group;
  const bool is_accounted = target_->memory(group);
  if (is_accounted) {
    held.own = group.anonymous + group.shared;
    held.group = held.own + group.kernel;
  } else {
    held.group = processes_->bytes(host_, held.own);
  }
  const MachineMemory after = read_machine(host_, text_.data(), text_.size());
  const auto all = [&](const MachineMemory& machine) {
    return is_accounted ? machine.anonymous + machine.shared : machine.anonymous;
  };
  const auto zones = read_text(host_, "/proc/zoneinfo", text_.data(), text_.size());
  const double lists = parse_cpu_lists(zones, static_cast<double>(host_.page_size()));
  held.left = known(lists) ? after.available + lists : after.available;
  held.all = all(after);
  held.all_least = std::min(all(before), all(after));
  held.all_most = std::max(all(before), all(after));
  // Pages that a fork shares are counted in each process.
  if (!is_accounted && held.own > held.all_most) {
    held.group -= held.own - held.all_most;
    held.own = held.all_most;
  }
  const GpuUse gpu = gpu_.use(*processes_, begun);
  held.group_gpu = gpu.own;
  held.group_gpu_of_host = gpu.own_of_host;
  held.others_gpu = gpu.others;
  held.gpu_at = machine_time(gpu.read_at);
  return held;
}

}  // namespace umaprobe

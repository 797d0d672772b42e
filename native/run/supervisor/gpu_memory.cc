#include "run/supervisor/gpu_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "nvml/queries.h"
#include "run/supervisor/reading.h"
#include "run/supervisor/small_thread.h"

namespace umaprobe {
namespace {

// NVML reports pids of the first PID namespace, which has the same inode on every kernel
// (PROC_PID_INIT_INO). Processes on a simulated machine are real ones of this namespace.
bool has_pids_of_nvml(const MachineConfig& config) {
  constexpr ino_t kFirstPidNamespace = 4026531836;
  struct stat space = {};
  return config.simulated() ||
         (::stat("/proc/self/ns/pid", &space) == 0 && space.st_ino == kFirstPidNamespace);
}

}  // namespace

GpuMemory::GpuMemory(const MachineConfig& config, Host& host, double interval)
    : config_(config),
      host_(host),
      interval_(interval),
      has_pids_of_nvml_(has_pids_of_nvml(config)) {}

void GpuMemory::start() {
  // If the thread cannot start, the GPU memory stays unknown.
  constexpr size_t kStackBytes = 1u << 20;
  start_small_thread(this, kStackBytes);
}

void GpuMemory::begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  begun_ = true;
  wake_.notify();
}

void GpuMemory::run() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!begun_) wake_.wait(lock);
  }
  CallContext context(false);
  const Fact<const Nvml*> nvml = open_nvml(config_);
  if (failure_of(nvml) || initialize_nvml(*std::get<const Nvml*>(nvml), context)) {
    // A container may have CUDA without NVML: then the owners of the memory are not known.
    const bool driver = !failure_of(read_file(host_, "/proc/driver/nvidia/version"));
    const std::lock_guard<std::mutex> lock(mutex_);
    state_ = driver ? State::kWaiting : State::kAbsent;
    return;
  }
  for (;; std::this_thread::sleep_for(std::chrono::duration<double>(interval_))) {
    const auto begun = Clock::now();
    const std::optional<size_t> count = read(*std::get<const Nvml*>(nvml), next_);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!count) {
      state_ = State::kWaiting;
      continue;
    }
    state_ = State::kRead;
    std::copy_n(next_.begin(), *count, uses_.begin());
    count_ = *count;
    read_at_ = begun;
  }
}

std::optional<size_t> GpuMemory::read(const Nvml& nvml, Uses& uses) {
  CallContext context(false);
  unsigned int devices = 0;
  if (call(context, nvml, nvml.nvmlDeviceGetCount_v2, &devices)) return std::nullopt;
  size_t count = 0;
  for (unsigned int index = 0; index < devices; ++index) {
    nvmlDevice_t device = nullptr;
    if (call(context, nvml, nvml.nvmlDeviceGetHandleByIndex_v2, index, &device))
      return std::nullopt;
    const Fact<std::vector<NvmlProcess>> processes = read_processes(context, nvml, device);
    if (failure_of(processes)) return std::nullopt;
    // A GPU with memory of its own tells how much.
    const bool of_host = failure_of(read_memory(context, nvml, device)) != nullptr;
    for (const NvmlProcess& process : std::get<std::vector<NvmlProcess>>(processes)) {
      if (count < kMost)
        uses[count++] = {process.pid, process.gpuBytes.value_or(kUnknown), of_host};
    }
  }
  return count;
}

GpuUse GpuMemory::use(const Processes& processes, Clock::time_point now) {
  // The lock is held for a copy only.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::kAbsent) return {0, 0, 0, now};
  if (state_ == State::kWaiting) return {kUnknown, kUnknown, kUnknown, read_at_};
  GpuUse use{0, 0, 0, read_at_};
  for (size_t i = 0; i < count_; ++i) {
    const Use& each = uses_[i];
    if (processes.has(static_cast<pid_t>(each.pid))) {
      use.own += each.bytes;
      if (each.of_host) use.own_of_host += each.bytes;
    } else if (each.of_host) {
      use.others += each.bytes;
    }
  }
  if (!has_pids_of_nvml_) {
    use.others = kUnknown;
    if (use.own == 0) use.own = use.own_of_host = kUnknown;
  }
  return use;
}

}  // namespace umaprobe

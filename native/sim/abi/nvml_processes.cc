// NVML: the processes on a device and their memory.
#include <time.h>

#include <cstdio>
#include <string>
#include <vector>

#include "sim/abi/nvml.h"
#include "sim/linux/locked.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

enum class List { kCompute, kGraphics, kMps };

struct ProcessMemory {
  int pid;
  uint64_t bytes;
};

// The memory that the driver attributes to each process: contexts, cudaMalloc and pinned memory,
// but not managed memory.
std::vector<ProcessMemory> list_processes(State& state, int device, List list) {
  std::vector<ProcessMemory> all;
  const Locked locked(state);
  for (int client = 0; list == List::kCompute && client < kMaxClients; client++) {
    if (state.clients[client].pid == 0) continue;
    ProcessMemory process{state.clients[client].pid, 0};
    bool has_context = false;
    for (int id = 0; id < state.block_limit; id++) {
      const Block& block = state.blocks[id];
      if (block.client != client || block.device != device) continue;
      if (block.kind == BlockKind::kNone) continue;
      has_context = has_context || block.kind == BlockKind::kContext;
      if (block.kind != BlockKind::kContext && block.kind != BlockKind::kDevice &&
          block.kind != BlockKind::kPinned) {
        continue;
      }
      // Dedicated device memory excludes the host memory of a block.
      const bool shares = state.machine.devices[device].shares_host_memory;
      process.bytes += shares ? block.host_bytes : block.device_bytes;
    }
    if (has_context) all.push_back(process);
  }
  for (int i = 0; list != List::kMps && i < state.machine.process_count; i++) {
    const ScriptedProcess& process = state.machine.processes[i];
    const bool listed = process.graphics == (list == List::kGraphics);
    const uint64_t bytes = state.world.scripted_gpu[i];
    if (listed && bytes > 0 && static_cast<int>(process.device) == device) {
      all.push_back({static_cast<int>(process.pid), bytes});
    }
  }
  return all;
}

void describe(const ProcessMemory& process, bool has_bytes, nvmlProcessInfo_t& info) {
  constexpr unsigned int kNoInstance = ~0u;
  info = {static_cast<unsigned int>(process.pid),
          has_bytes ? process.bytes : umaprobe::kNvmlValueNotAvailable, kNoInstance, kNoInstance};
}

void describe(const ProcessMemory& process, bool has_bytes, nvmlProcessInfo_v1_t& info) {
  info = {static_cast<unsigned int>(process.pid),
          has_bytes ? process.bytes : umaprobe::kNvmlValueNotAvailable};
}

template <typename Info>
nvmlReturn_t processes(const char* name, nvmlDevice_t handle, unsigned int* count, Info* infos,
                       List list) {
  return nvml_device(
      name, handle, count != nullptr, [&](const Call& call, int device, const Device& facts) {
        const std::vector<ProcessMemory> all = list_processes(call.state(), device, list);
        const unsigned int room = *count;
        *count = static_cast<unsigned int>(all.size());
        if (all.empty()) return 0;
        if (infos == nullptr || room < all.size()) return int{umaprobe::kNvmlInsufficientSize};
        for (size_t i = 0; i < all.size(); i++) {
          describe(all[i], facts.nvml.process_memory, infos[i]);
        }
        return 0;
      });
}

unsigned long long real_time_us() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  constexpr unsigned long long kMicros = 1000000;
  return static_cast<unsigned long long>(now.tv_sec) * kMicros +
         static_cast<unsigned long long>(now.tv_nsec) / 1000;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

// X(function, struct, list). Version 2, the newest one of older drivers, has the struct of version
// 3; the first version has a struct of its own, without the instances of MIG.
#define UMASIM_PROCESS_LISTS(X)                                              \
  X(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t*, kCompute)   \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t*, kGraphics) \
  X(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_t*, kCompute)   \
  X(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_t*, kGraphics) \
  X(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t*, kCompute)   \
  X(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t*, kGraphics) \
  X(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t*, kMps)    \
  X(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_t*, kMps)    \
  X(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t*, kMps)
#define X(function, Infos, list)                                             \
  UMASIM_API nvmlReturn_t function(nvmlDevice_t device, unsigned int* count, \
                                   Infos infos) noexcept {                   \
    return processes(__func__, device, count, infos, List::list);            \
  }
UMASIM_PROCESS_LISTS(X)
#undef X

// The simulator knows that CUDA works, and not for whom: the processes share the utilization
// evenly.
UMASIM_API nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device,
                                                        nvmlProcessUtilizationSample_t* samples,
                                                        unsigned int* count,
                                                        unsigned long long last_seen_us) noexcept {
  return nvml_device(
      __func__, device, count != nullptr, [&](const Call& call, int index, const Device&) {
        const unsigned long long now_us = real_time_us();
        if (!is_busy(call.state(), index) || now_us <= last_seen_us) {
          return int{umaprobe::kNvmlNotFound};
        }
        const std::vector<ProcessMemory> all = list_processes(call.state(), index, List::kCompute);
        if (all.empty()) return int{umaprobe::kNvmlNotFound};
        const unsigned int room = *count;
        const auto found = static_cast<unsigned int>(all.size());
        *count = found;
        if (samples == nullptr || room < found) return int{umaprobe::kNvmlInsufficientSize};
        for (size_t i = 0; i < all.size(); i++) {
          samples[i] = {
              static_cast<unsigned int>(all[i].pid), now_us, kBusyPercent / found, 0, 0, 0};
        }
        return 0;
      });
}

UMASIM_API nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name,
                                                 unsigned int size) noexcept {
  return nvml(__func__, [&](const Call& call) {
    if (name == nullptr || size == 0) return int{umaprobe::kNvmlInvalidArgument};
    const Machine& machine = call.state().machine;
    for (int i = 0; i < machine.process_count; i++) {
      if (machine.processes[i].pid != static_cast<int64_t>(pid)) continue;
      std::snprintf(name, size, "%s", machine.processes[i].name);
      return 0;
    }
    const std::string command =
        raw_read_file(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), 4096);
    if (command.empty()) return int{umaprobe::kNvmlNotFound};
    std::snprintf(name, size, "%s", command.c_str());
    return 0;
  });
}

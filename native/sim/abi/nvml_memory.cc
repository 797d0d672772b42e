// NVML: memory, and the processes that hold it.
#include <algorithm>
#include <cstdio>

#include "sim/abi/nvml.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

struct Amounts {
  uint64_t total, reserved, free;
};

// 0, or the status with which the device refuses.
int amounts(State& state, int device, Amounts* out) {
  const Device& facts = state.machine.devices[device];
  const Locked locked(state);
  if (facts.nvml.memory == NvmlMemory::kOwn) {
    *out = {facts.memory, facts.reserved,
            less(facts.memory, facts.reserved + state.world.gpu_device[device])};
  } else if (facts.nvml.memory == NvmlMemory::kHost) {
    *out = {state.machine.memory.total, 0, free_bytes(state)};
  }
  return facts.nvml.memory_status;
}

enum class List { kCompute, kGraphics, kMps };

struct Holder {
  int pid;
  uint64_t bytes;
};

// What the driver attributes to each process: its contexts, cudaMalloc and pinned memory; managed
// memory is not in it.
std::vector<Holder> holders(State& state, int device, List list) {
  std::vector<Holder> all;
  const Locked locked(state);
  for (int client = 0; list == List::kCompute && client < kMaxClients; client++) {
    if (state.clients[client].pid == 0) continue;
    Holder holder{state.clients[client].pid, 0};
    bool has_context = false;
    for (int id = 0; id < state.block_limit; id++) {
      const Block& block = state.blocks[id];
      if (block.kind == Kind::kNone || block.client != client || block.device != device) continue;
      has_context = has_context || block.kind == Kind::kContext;
      if (block.kind != Kind::kContext && block.kind != Kind::kDevice &&
          block.kind != Kind::kPinned) {
        continue;
      }
      // On a device with memory of its own, host memory is not the device's.
      const bool shares = state.machine.devices[device].shares_host_memory;
      holder.bytes += shares ? block.host_bytes : block.device_bytes;
    }
    if (has_context) all.push_back(holder);
  }
  for (int i = 0; list != List::kMps && i < state.machine.process_count; i++) {
    const Scripted& process = state.machine.processes[i];
    const bool here = process.graphics == (list == List::kGraphics);
    const uint64_t bytes = state.world.scripted_gpu[i];
    if (here && bytes > 0 && static_cast<int>(process.device) == device) {
      all.push_back({static_cast<int>(process.pid), bytes});
    }
  }
  return all;
}

nvmlReturn_t processes(const char* name, nvmlDevice_t handle, unsigned int* count,
                       nvmlProcessInfo_t* infos, List list) {
  return nvml_device(
      name, handle, count != nullptr, [&](const Call& call, int device, const Device& facts) {
        const std::vector<Holder> all = holders(call.state(), device, list);
        const unsigned int room = *count;
        *count = static_cast<unsigned int>(all.size());
        if (all.empty()) return 0;
        if (infos == nullptr || room < all.size()) return int{umaprobe::kNvmlInsufficientSize};
        for (size_t i = 0; i < all.size(); i++) {
          constexpr unsigned int kNoInstance = ~0u;
          infos[i] = {static_cast<unsigned int>(all[i].pid),
                      facts.nvml.process_memory ? all[i].bytes : umaprobe::kNvmlValueNotAvailable,
                      kNoInstance, kNoInstance};
        }
        return 0;
      });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device,
                                                nvmlMemory_t* memory) noexcept {
  return nvml_device("nvmlDeviceGetMemoryInfo", device, memory != nullptr,
                     [&](const Call& call, int index, const Device&) {
                       Amounts now{0, 0, 0};
                       const int status = amounts(call.state(), index, &now);
                       // Version 1 has no reserved: it counts as used.
                       if (status == 0) *memory = {now.total, now.free, now.total - now.free};
                       return status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
                                                   nvmlMemory_v2_t* memory) noexcept {
  return nvml_device("nvmlDeviceGetMemoryInfo_v2", device, memory != nullptr,
                     [&](const Call& call, int index, const Device&) {
                       if (memory->version != umaprobe::kNvmlMemoryV2) {
                         return int{umaprobe::kNvmlArgumentVersionMismatch};
                       }
                       Amounts now{0, 0, 0};
                       const int status = amounts(call.state(), index, &now);
                       if (status == 0) {
                         *memory = {memory->version, now.total, now.reserved, now.free,
                                    now.total - now.free - now.reserved};
                       }
                       return status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                unsigned int* count,
                                                                nvmlProcessInfo_t* infos) noexcept {
  return processes("nvmlDeviceGetComputeRunningProcesses_v3", device, count, infos, List::kCompute);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(
    nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos) noexcept {
  return processes("nvmlDeviceGetGraphicsRunningProcesses_v3", device, count, infos,
                   List::kGraphics);
}

// Version 2 has the same struct, and is all that older drivers have.
UMASIM_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
                                                                unsigned int* count,
                                                                nvmlProcessInfo_t* infos) noexcept {
  return processes("nvmlDeviceGetComputeRunningProcesses_v2", device, count, infos, List::kCompute);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(
    nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos) noexcept {
  return processes("nvmlDeviceGetGraphicsRunningProcesses_v2", device, count, infos,
                   List::kGraphics);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(
    nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos) noexcept {
  return processes("nvmlDeviceGetMPSComputeRunningProcesses_v3", device, count, infos, List::kMps);
}

UMASIM_API nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name,
                                                 unsigned int size) noexcept {
  return nvml("nvmlSystemGetProcessName", [&](const Call& call) {
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

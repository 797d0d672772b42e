#include "nvml/queries.h"

#include <algorithm>

namespace umaprobe {
namespace {

using Text = int(nvmlDevice_t, char*, unsigned int);

Fact<std::string> read_text(CallContext& context, const Nvml& nvml, const Symbol<Text>& symbol,
                            nvmlDevice_t device) {
  char text[128] = "";  // NVML_DEVICE_NAME_V2_BUFFER_SIZE and _UUID_V2_ are 96
  auto failure = call(context, nvml, symbol, device, text, unsigned(sizeof text));
  return fact(failure, std::string(text));
}

using List = int(nvmlDevice_t, unsigned int*, nvmlProcessInfo_t*);
using Infos = std::vector<nvmlProcessInfo_t>;

// Follows NVML's size protocol. Processes come and go between two calls, so the size that NVML asks
// for may be too small again.
Fact<Infos> read_list(CallContext& context, const Nvml& nvml, const Symbol<List>& symbol,
                      nvmlDevice_t device) {
  constexpr int kAttempts = 8;
  Infos infos(32);
  for (int attempt = 1;; ++attempt) {
    auto count = static_cast<unsigned int>(infos.size());
    auto failure = call(context, nvml, symbol, device, &count, infos.data());
    if (!failure) {
      infos.resize(std::min<size_t>(count, infos.size()));
      return infos;
    }
    if (failure->status != kNvmlInsufficientSize || attempt == kAttempts)
      return std::move(*failure);
    infos.resize(std::max<size_t>(count, infos.size()) * 2);
  }
}

const Symbol<List>& newest(const Symbol<List>& v3, const Symbol<List>& v2) {
  return v3 || !v2 ? v3 : v2;
}

// A process in both lists counts once, with the larger number.
void merge(const Infos& infos, std::vector<NvmlProcess>& processes) {
  for (const nvmlProcessInfo_t& info : infos) {
    std::optional<double> bytes;
    if (info.usedGpuMemory != kNvmlValueNotAvailable) bytes = double(info.usedGpuMemory);
    const auto same =
        std::find_if(processes.begin(), processes.end(),
                     [&](const NvmlProcess& process) { return process.pid == info.pid; });
    if (same == processes.end()) {
      processes.push_back({info.pid, bytes});
    } else {
      same->gpuBytes = std::max(same->gpuBytes, bytes);  // an empty optional is the smallest
    }
  }
}

}  // namespace

Fact<std::string> read_name(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  return read_text(context, nvml, nvml.nvmlDeviceGetName, device);
}

Fact<std::string> read_uuid(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  return read_text(context, nvml, nvml.nvmlDeviceGetUUID, device);
}

Fact<std::string> read_pci_bus_id(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  nvmlPciInfo_t pci{};
  auto failure = call(context, nvml, nvml.nvmlDeviceGetPciInfo_v3, device, &pci);
  return fact(failure, std::string(pci.busId));
}

Fact<NvmlMemory> read_memory(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  if (nvml.nvmlDeviceGetMemoryInfo_v2) {
    nvmlMemory_v2_t memory{};
    memory.version = kNvmlMemoryV2;
    auto failure = call(context, nvml, nvml.nvmlDeviceGetMemoryInfo_v2, device, &memory);
    // A library with the symbol but another version of the struct still has the old call.
    if (!failure || failure->status != kNvmlArgumentVersionMismatch) {
      return fact(failure,
                  NvmlMemory{double(memory.total), double(memory.free), double(memory.used),
                             double(memory.reserved), "nvmlDeviceGetMemoryInfo_v2"});
    }
  }
  nvmlMemory_t memory{};
  auto failure = call(context, nvml, nvml.nvmlDeviceGetMemoryInfo, device, &memory);
  return fact(failure, NvmlMemory{double(memory.total), double(memory.free), double(memory.used),
                                  std::nullopt, "nvmlDeviceGetMemoryInfo"});
}

Fact<std::vector<NvmlProcess>> read_processes(CallContext& context, const Nvml& nvml,
                                              nvmlDevice_t device) {
  const Fact<Infos> compute = read_list(context, nvml,
                                        newest(nvml.nvmlDeviceGetComputeRunningProcesses_v3,
                                               nvml.nvmlDeviceGetComputeRunningProcesses_v2),
                                        device);
  if (const Failure* failure = failure_of(compute)) return *failure;
  const Fact<Infos> graphics = read_list(context, nvml,
                                         newest(nvml.nvmlDeviceGetGraphicsRunningProcesses_v3,
                                                nvml.nvmlDeviceGetGraphicsRunningProcesses_v2),
                                         device);
  std::vector<NvmlProcess> processes;
  merge(std::get<Infos>(compute), processes);
  if (const Failure* failure = failure_of(graphics)) {
    // A device without graphics has no such list. Ignoring any other failure would silently leave
    // out processes.
    const bool no_graphics =
        failure->status == kNvmlNotSupported || failure->name == "SYMBOL_MISSING";
    if (!no_graphics) return *failure;
  } else {
    merge(std::get<Infos>(graphics), processes);
  }
  return processes;
}

Fact<int> read_addressing_mode(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  nvmlDeviceAddressingMode_t mode{};
  mode.version = kNvmlAddressingModeV1;
  auto failure = call(context, nvml, nvml.nvmlDeviceGetAddressingMode, device, &mode);
  return fact(failure, int(mode.value));
}

Fact<std::pair<int, int>> read_mig_mode(CallContext& context, const Nvml& nvml,
                                        nvmlDevice_t device) {
  unsigned int current = 0, pending = 0;
  auto failure = call(context, nvml, nvml.nvmlDeviceGetMigMode, device, &current, &pending);
  return fact(failure, std::pair<int, int>(current, pending));
}

Fact<double> read_utilization(CallContext& context, const Nvml& nvml, nvmlDevice_t device) {
  nvmlUtilization_t utilization{};
  auto failure = call(context, nvml, nvml.nvmlDeviceGetUtilizationRates, device, &utilization);
  return fact(failure, double(utilization.gpu));
}

}  // namespace umaprobe

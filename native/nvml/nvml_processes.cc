// The processes on a device: NVML's size protocol, and its two lists made one.
#include <algorithm>

#include "nvml/queries.h"

namespace umaprobe {
namespace {

using List = int(nvmlDevice_t, unsigned int*, nvmlProcessInfo_t*);
using Infos = std::vector<nvmlProcessInfo_t>;

// Processes come and go between two calls, so the size that NVML asks for may be too small again.
Fact<Infos> read_list(Flight& flight, const Nvml& nvml, const Symbol<List>& symbol,
                      nvmlDevice_t device) {
  constexpr int kAttempts = 8;
  Infos infos(32);
  for (int attempt = 1;; ++attempt) {
    auto count = static_cast<unsigned int>(infos.size());
    auto failure = ask(flight, nvml, symbol, device, &count, infos.data());
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

// The same process in both lists counts once, with the larger number.
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

Fact<std::vector<NvmlProcess>> read_processes(Flight& flight, const Nvml& nvml,
                                              nvmlDevice_t device) {
  const Fact<Infos> compute = read_list(flight, nvml,
                                        newest(nvml.nvmlDeviceGetComputeRunningProcesses_v3,
                                               nvml.nvmlDeviceGetComputeRunningProcesses_v2),
                                        device);
  if (const Failure* failure = failure_of(compute)) return *failure;
  const Fact<Infos> graphics = read_list(flight, nvml,
                                         newest(nvml.nvmlDeviceGetGraphicsRunningProcesses_v3,
                                                nvml.nvmlDeviceGetGraphicsRunningProcesses_v2),
                                         device);
  std::vector<NvmlProcess> processes;
  merge(std::get<Infos>(compute), processes);
  if (const Failure* failure = failure_of(graphics)) {
    // A device without graphics has no such list. Any other failure would leave out processes
    // without a word.
    const bool no_graphics =
        failure->status == kNvmlNotSupported || failure->name == "SYMBOL_MISSING";
    if (!no_graphics) return *failure;
  } else {
    merge(std::get<Infos>(graphics), processes);
  }
  return processes;
}

}  // namespace umaprobe

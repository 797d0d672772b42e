// Queries to NVML about one device.
#pragma once

#include "nvml/nvml.h"
#include "nvml/report.h"

namespace umaprobe {

Fact<std::string> read_name(CallContext& context, const Nvml& nvml, nvmlDevice_t device);
Fact<std::string> read_uuid(CallContext& context, const Nvml& nvml, nvmlDevice_t device);
Fact<std::string> read_pci_bus_id(CallContext& context, const Nvml& nvml, nvmlDevice_t device);

// Uses v2 if the library has it, otherwise v1.
Fact<NvmlMemory> read_memory(CallContext& context, const Nvml& nvml, nvmlDevice_t device);

// Compute and graphics processes, one entry per pid.
Fact<std::vector<NvmlProcess>> read_processes(CallContext& context, const Nvml& nvml,
                                              nvmlDevice_t device);

Fact<int> read_addressing_mode(CallContext& context, const Nvml& nvml, nvmlDevice_t device);
Fact<std::pair<int, int>> read_mig_mode(CallContext& context, const Nvml& nvml,
                                        nvmlDevice_t device);
Fact<double> read_utilization(CallContext& context, const Nvml& nvml, nvmlDevice_t device);

}  // namespace umaprobe

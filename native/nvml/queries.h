// Single questions to NVML about one device, each answered by a fact.
#pragma once

#include "nvml/nvml.h"
#include "nvml/report.h"

namespace umaprobe {

Fact<std::string> read_name(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<std::string> read_uuid(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<std::string> read_pci_bus_id(Flight& flight, const Nvml& nvml, nvmlDevice_t device);

// v2 where the library has it, else v1.
Fact<NvmlMemory> read_memory(Flight& flight, const Nvml& nvml, nvmlDevice_t device);

// Compute and graphics processes, one entry a pid.
Fact<std::vector<NvmlProcess>> read_processes(Flight& flight, const Nvml& nvml,
                                              nvmlDevice_t device);

Fact<int> read_addressing_mode(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<std::pair<int, int>> read_mig_mode(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<double> read_utilization(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<double> read_temperature(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<double> read_power(Flight& flight, const Nvml& nvml, nvmlDevice_t device);
Fact<double> read_sm_clock(Flight& flight, const Nvml& nvml, nvmlDevice_t device);

}  // namespace umaprobe

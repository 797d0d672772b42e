#include "nvml/queries.h"

namespace umaprobe {
namespace {

using Text = int(nvmlDevice_t, char*, unsigned int);

Fact<std::string> read_text(Flight& flight, const Nvml& nvml, const Symbol<Text>& symbol,
                            nvmlDevice_t device) {
  char text[128] = "";  // NVML_DEVICE_NAME_V2_BUFFER_SIZE and _UUID_V2_ are 96
  auto failure = ask(flight, nvml, symbol, device, text, unsigned(sizeof text));
  return fact(failure, std::string(text));
}

}  // namespace

Fact<std::string> read_name(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  return read_text(flight, nvml, nvml.nvmlDeviceGetName, device);
}

Fact<std::string> read_uuid(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  return read_text(flight, nvml, nvml.nvmlDeviceGetUUID, device);
}

Fact<std::string> read_pci_bus_id(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  nvmlPciInfo_t pci{};
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetPciInfo_v3, device, &pci);
  return fact(failure, std::string(pci.busId));
}

Fact<NvmlMemory> read_memory(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  if (nvml.nvmlDeviceGetMemoryInfo_v2) {
    nvmlMemory_v2_t memory{};
    memory.version = kNvmlMemoryV2;
    auto failure = ask(flight, nvml, nvml.nvmlDeviceGetMemoryInfo_v2, device, &memory);
    // A library that has the symbol but not this version of the struct still has the old call.
    if (!failure || failure->status != kNvmlArgumentVersionMismatch) {
      return fact(failure,
                  NvmlMemory{double(memory.total), double(memory.free), double(memory.used),
                             double(memory.reserved), "nvmlDeviceGetMemoryInfo_v2"});
    }
  }
  nvmlMemory_t memory{};
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetMemoryInfo, device, &memory);
  return fact(failure, NvmlMemory{double(memory.total), double(memory.free), double(memory.used),
                                  std::nullopt, "nvmlDeviceGetMemoryInfo"});
}

Fact<int> read_addressing_mode(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  nvmlDeviceAddressingMode_t mode{};
  mode.version = kNvmlAddressingModeV1;
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetAddressingMode, device, &mode);
  return fact(failure, int(mode.value));
}

Fact<std::pair<int, int>> read_mig_mode(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  unsigned int current = 0, pending = 0;
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetMigMode, device, &current, &pending);
  return fact(failure, std::pair<int, int>(current, pending));
}

Fact<double> read_utilization(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  nvmlUtilization_t utilization{};
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetUtilizationRates, device, &utilization);
  return fact(failure, double(utilization.gpu));
}

Fact<double> read_temperature(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  unsigned int celsius = 0;
  auto failure =
      ask(flight, nvml, nvml.nvmlDeviceGetTemperature, device, kNvmlTemperatureGpu, &celsius);
  return fact(failure, double(celsius));
}

Fact<double> read_power(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  unsigned int milliwatt = 0;
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetPowerUsage, device, &milliwatt);
  return fact(failure, double(milliwatt));
}

Fact<double> read_sm_clock(Flight& flight, const Nvml& nvml, nvmlDevice_t device) {
  unsigned int mhz = 0;
  auto failure = ask(flight, nvml, nvml.nvmlDeviceGetClockInfo, device, kNvmlClockSm, &mhz);
  return fact(failure, double(mhz));
}

}  // namespace umaprobe

// NVML: devices and their properties.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/abi/nvml.h"
#include "sim/gpu/device_identity.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

nvmlReturn_t count_devices(const char* name, unsigned int* count) {
  return nvml(name, [&](const Call& call) {
    if (count == nullptr) return int{umaprobe::kNvmlInvalidArgument};
    *count = static_cast<unsigned int>(call.state().machine.device_count);
    return 0;
  });
}

// The first device for which `fits` holds.
template <typename Fits>
nvmlReturn_t handle_where(const char* name, nvmlDevice_t* out, bool arguments_fine, Fits fits) {
  return nvml(name, [&](const Call& call) {
    if (out == nullptr || !arguments_fine) return int{umaprobe::kNvmlInvalidArgument};
    for (int i = 0; i < call.state().machine.device_count; i++) {
      if (!fits(i, call.state().machine.devices[i])) continue;
      const int status = call.refusal_of(i);
      if (status != 0) return status;
      *out = handle_of(call.session(), i);
      return 0;
    }
    return int{umaprobe::kNvmlNotFound};
  });
}

nvmlReturn_t value(const char* name, nvmlDevice_t handle, NvmlValue NvmlAnswers::*field,
                   unsigned int* out) {
  return nvml_device(name, handle, out != nullptr, [&](const Call&, int, const Device& facts) {
    const NvmlValue& answer = facts.nvml.*field;
    if (answer.status == 0) *out = static_cast<unsigned int>(answer.value);
    return answer.status;
  });
}

nvmlReturn_t text(const char* name, nvmlDevice_t handle, char* out, unsigned int size,
                  const char* (*pick)(const Device&)) {
  return nvml_device(name, handle, out != nullptr, [&](const Call&, int, const Device& facts) {
    return nvml_text(pick(facts), out, size);
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlDeviceGetCount(unsigned int* count) noexcept {
  return count_devices("nvmlDeviceGetCount", count);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) noexcept {
  return count_devices("nvmlDeviceGetCount_v2", count);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                                      nvmlDevice_t* device) noexcept {
  // NVML refuses an index beyond the count as an invalid argument, not as a device not found.
  const nvmlReturn_t status =
      handle_where("nvmlDeviceGetHandleByIndex_v2", device, true,
                   [&](int i, const Device&) { return static_cast<unsigned int>(i) == index; });
  return status == umaprobe::kNvmlNotFound ? int{umaprobe::kNvmlInvalidArgument} : status;
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) noexcept {
  return handle_where("nvmlDeviceGetHandleByUUID", device, uuid != nullptr,
                      [&](int, const Device& facts) { return std::strcmp(facts.uuid, uuid) == 0; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id,
                                                         nvmlDevice_t* device) noexcept {
  PciAddress wanted{0, 0, 0};
  const bool fine = id != nullptr &&
                    std::sscanf(id, "%x:%x:%x", &wanted.domain, &wanted.bus, &wanted.device) == 3;
  return handle_where("nvmlDeviceGetHandleByPciBusId_v2", device, fine,
                      [&](int, const Device& facts) {
                        const PciAddress address = pci_address(facts);
                        return address.domain == wanted.domain && address.bus == wanted.bus &&
                               address.device == wanted.device;
                      });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name,
                                          unsigned int size) noexcept {
  return text("nvmlDeviceGetName", device, name, size,
              [](const Device& facts) -> const char* { return facts.name; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid,
                                          unsigned int size) noexcept {
  return text("nvmlDeviceGetUUID", device, uuid, size,
              [](const Device& facts) -> const char* { return facts.uuid; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) noexcept {
  return nvml_device("nvmlDeviceGetIndex", device, index != nullptr,
                     [&](const Call&, int i, const Device&) {
                       *index = static_cast<unsigned int>(i);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return nvml_device("nvmlDeviceGetPciInfo_v3", device, pci != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       const PciAddress at = pci_address(facts);
                       *pci = {};
                       pci->domain = at.domain;
                       pci->bus = at.bus;
                       pci->device = at.device;
                       pci->pciDeviceId = static_cast<unsigned int>(
                           std::strtoul(facts.pci_device_id, nullptr, 16));
                       // The domain has four digits in the legacy id and eight in the new one.
                       std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0",
                                     at.domain & 0xffff, at.bus & 0xff, at.device & 0xff);
                       std::snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", at.domain,
                                     at.bus, at.device);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
                                                    nvmlDeviceAddressingMode_t* mode) noexcept {
  return nvml_device("nvmlDeviceGetAddressingMode", device, mode != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       if (mode->version != umaprobe::kNvmlAddressingModeV1) {
                         return int{umaprobe::kNvmlArgumentVersionMismatch};
                       }
                       const NvmlValue& answer = facts.nvml.addressing_mode;
                       if (answer.status == 0) mode->value = static_cast<unsigned>(answer.value);
                       return answer.status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                      nvmlUtilization_t* rates) noexcept {
  return nvml_device("nvmlDeviceGetUtilizationRates", device, rates != nullptr,
                     [&](const Call& call, int index, const Device& facts) {
                       const NvmlValue& answer = facts.nvml.utilization;
                       if (answer.status != 0) return answer.status;
                       const Locked locked(call.state());
                       const World& world = call.state().world;
                       const bool busy = world.busy_until_ms[index] > world.now_ms;
                       constexpr unsigned int kBusyPercent = 96;
                       rates->gpu = busy ? kBusyPercent : static_cast<unsigned>(answer.value);
                       rates->memory = 0;
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
                                                 unsigned int* celsius) noexcept {
  if (sensor != umaprobe::kNvmlTemperatureGpu) return umaprobe::kNvmlInvalidArgument;
  return value("nvmlDeviceGetTemperature", device, &NvmlAnswers::temperature, celsius);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* mw) noexcept {
  return value("nvmlDeviceGetPowerUsage", device, &NvmlAnswers::power, mw);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int clock,
                                               unsigned int* mhz) noexcept {
  const bool memory = clock == umaprobe::kNvmlClockMem;
  return value("nvmlDeviceGetClockInfo", device,
               memory ? &NvmlAnswers::memory_clock : &NvmlAnswers::sm_clock, mhz);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int clock,
                                                  unsigned int* mhz) noexcept {
  const bool memory = clock == umaprobe::kNvmlClockMem;
  return value("nvmlDeviceGetMaxClockInfo", device,
               memory ? &NvmlAnswers::memory_clock : &NvmlAnswers::max_sm_clock, mhz);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device,
                                                      unsigned int* state) noexcept {
  return value("nvmlDeviceGetPerformanceState", device, &NvmlAnswers::performance_state, state);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                             unsigned int* pending) noexcept {
  if (pending == nullptr) return umaprobe::kNvmlInvalidArgument;
  const nvmlReturn_t status =
      value("nvmlDeviceGetMigMode", device, &NvmlAnswers::mig_mode, current);
  if (status == 0) *pending = *current;
  return status;
}

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

nvmlReturn_t handle_by_index(const char* name, unsigned int index, nvmlDevice_t* device) {
  // NVML refuses an index beyond the count as an invalid argument, not as a device not found.
  const nvmlReturn_t status = handle_where(name, device, true, [&](int i, const Device&) {
    return static_cast<unsigned int>(i) == index;
  });
  return status == umaprobe::kNvmlNotFound ? int{umaprobe::kNvmlInvalidArgument} : status;
}

nvmlReturn_t handle_by_pci(const char* name, const char* id, nvmlDevice_t* device) {
  PciAddress wanted{0, 0, 0};
  const bool fine = id != nullptr &&
                    std::sscanf(id, "%x:%x:%x", &wanted.domain, &wanted.bus, &wanted.device) == 3;
  return handle_where(name, device, fine, [&](int, const Device& facts) {
    const PciAddress address = pci_address(facts);
    return address.domain == wanted.domain && address.bus == wanted.bus &&
           address.device == wanted.device;
  });
}

nvmlPciInfo_t pci_info(const Device& facts) {
  const PciAddress at = pci_address(facts);
  nvmlPciInfo_t pci{};
  pci.domain = at.domain;
  pci.bus = at.bus;
  pci.device = at.device;
  pci.pciDeviceId = static_cast<unsigned int>(std::strtoul(facts.pci_device_id, nullptr, 16));
  // The domain has four digits in the legacy id and eight in the new one.
  std::snprintf(pci.busIdLegacy, sizeof pci.busIdLegacy, "%04X:%02X:%02X.0", at.domain & 0xffff,
                at.bus & 0xff, at.device & 0xff);
  std::snprintf(pci.busId, sizeof pci.busId, "%08X:%02X:%02X.0", at.domain, at.bus, at.device);
  return pci;
}

// Fills the first `size` bytes of the struct.
nvmlReturn_t pci_info(const char* name, nvmlDevice_t device, nvmlPciInfo_t* out, size_t size) {
  return nvml_device(name, device, out != nullptr, [&](const Call&, int, const Device& facts) {
    const nvmlPciInfo_t all = pci_info(facts);
    std::memcpy(out, &all, size);
    return 0;
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
  return count_devices(__func__, count);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) noexcept {
  return count_devices(__func__, count);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index,
                                                   nvmlDevice_t* device) noexcept {
  return handle_by_index(__func__, index, device);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                                      nvmlDevice_t* device) noexcept {
  return handle_by_index(__func__, index, device);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial,
                                                    nvmlDevice_t* device) noexcept {
  return handle_where(__func__, device, serial != nullptr, [&](int, const Device& facts) {
    const NvmlText& answer = facts.nvml.serial;
    return answer.status == 0 && std::strcmp(answer.value, serial) == 0;
  });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device) noexcept {
  return handle_where(__func__, device, uuid != nullptr,
                      [&](int, const Device& facts) { return std::strcmp(facts.uuid, uuid) == 0; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* id,
                                                      nvmlDevice_t* device) noexcept {
  return handle_by_pci(__func__, id, device);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* id,
                                                         nvmlDevice_t* device) noexcept {
  return handle_by_pci(__func__, id, device);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name,
                                          unsigned int size) noexcept {
  return text(__func__, device, name, size,
              [](const Device& facts) -> const char* { return facts.name; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid,
                                          unsigned int size) noexcept {
  return text(__func__, device, uuid, size,
              [](const Device& facts) -> const char* { return facts.uuid; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index) noexcept {
  return nvml_device(__func__, device, index != nullptr, [&](const Call&, int i, const Device&) {
    *index = static_cast<unsigned int>(i);
    return 0;
  });
}

// The versions before 3 end before the id with the long domain, so that is not written.
UMASIM_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return pci_info(__func__, device, pci, offsetof(nvmlPciInfo_t, busId));
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return pci_info(__func__, device, pci, offsetof(nvmlPciInfo_t, busId));
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept {
  return pci_info(__func__, device, pci, sizeof *pci);
}

// NVML: the identity of a device, and its modes.
#include "sim/abi/nvml.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

// nvmlDeviceArchitecture_t
enum Architecture : unsigned int {
  kVolta = 5,
  kTuring = 6,
  kAmpere = 7,
  kAda = 8,
  kHopper = 9,
  kBlackwell = 10,
  kUnknown = 0xffffffff,
};

unsigned int architecture(const Device& facts) {
  int major;
  int minor;
  compute_capability(facts, &major, &minor);
  if (major >= 10) return kBlackwell;
  if (major == 9) return kHopper;
  if (major == 8) return minor == 9 ? kAda : kAmpere;
  if (major == 7) return minor == 5 ? kTuring : kVolta;
  return kUnknown;
}

nvmlReturn_t text(const char* name, nvmlDevice_t device, char* out, unsigned int size,
                  NvmlText NvmlAnswers::*field) {
  return nvml_device(name, device, out != nullptr, [&](const Call&, int, const Device& facts) {
    const NvmlText& answer = facts.nvml.*field;
    return answer.status != 0 ? answer.status : nvml_text(answer.value, out, size);
  });
}

// A mode that is in force, and the one from the next restart on.
nvmlReturn_t mode(const char* name, nvmlDevice_t device, NvmlValue NvmlAnswers::*field,
                  unsigned int* current, unsigned int* pending) {
  if (pending == nullptr) return umaprobe::kNvmlInvalidArgument;
  const nvmlReturn_t status = nvml_value(name, device, field, current);
  if (status == 0) *pending = *current;
  return status;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
                                                    nvmlDeviceAddressingMode_t* mode) noexcept {
  return nvml_device(__func__, device, mode != nullptr, [&](const Call&, int, const Device& facts) {
    if (mode->version != umaprobe::kNvmlAddressingModeV1) {
      return int{umaprobe::kNvmlArgumentVersionMismatch};
    }
    const NvmlValue& answer = facts.nvml.addressing_mode;
    if (answer.status == 0) mode->value = static_cast<unsigned>(answer.value);
    return answer.status;
  });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device,
                                                  unsigned int* generation) noexcept {
  return nvml_device(__func__, device, generation != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       *generation = architecture(facts);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major,
                                                           int* minor) noexcept {
  return nvml_device(__func__, device, major != nullptr && minor != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       compute_capability(facts, major, minor);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device,
                                                    unsigned int* bits) noexcept {
  return nvml_device(__func__, device, bits != nullptr, [&](const Call&, int, const Device& facts) {
    *bits = static_cast<unsigned>(facts.attributes.globalMemoryBusWidth);
    return 0;
  });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* serial,
                                            unsigned int size) noexcept {
  return text(__func__, device, serial, size, &NvmlAnswers::serial);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version,
                                                  unsigned int size) noexcept {
  return text(__func__, device, version, size, &NvmlAnswers::vbios_version);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device,
                                                 unsigned int* minor) noexcept {
  return nvml_device(__func__, device, minor != nullptr,
                     [&](const Call&, int index, const Device&) {
                       *minor = static_cast<unsigned>(index);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int* board) noexcept {
  return nvml_device(__func__, device, board != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       constexpr unsigned int kBus = 8;  // the bits below are the slot's
                       *board = pci_address(facts).bus << kBus;
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device,
                                                   unsigned int* several) noexcept {
  return nvml_device(__func__, device, several != nullptr, [&](const Call&, int, const Device&) {
    *several = 0;
    return 0;
  });
}

// Only Windows has driver models.
UMASIM_API nvmlReturn_t nvmlDeviceGetDriverModel(nvmlDevice_t device, unsigned int* current,
                                                 unsigned int* pending) noexcept {
  return nvml_device(
      __func__, device, current != nullptr && pending != nullptr,
      [](const Call&, int, const Device&) { return int{umaprobe::kNvmlNotSupported}; });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned int* current,
                                             unsigned int* pending) noexcept {
  return mode(__func__, device, &NvmlAnswers::ecc_mode, current, pending);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned int /*type*/,
                                                    unsigned int /*counter*/,
                                                    unsigned long long* errors) noexcept {
  return nvml_device(__func__, device, errors != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       const NvmlValue& ecc = facts.nvml.ecc_mode;
                       if (ecc.status != 0 || ecc.value == 0)
                         return int{umaprobe::kNvmlNotSupported};
                       *errors = 0;
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                             unsigned int* pending) noexcept {
  return mode(__func__, device, &NvmlAnswers::mig_mode, current, pending);
}

// The instances of MIG are not modelled: every handle is that of a whole device.
UMASIM_API nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device,
                                                    unsigned int* instance) noexcept {
  return nvml_device(__func__, device, instance != nullptr, [&](const Call&, int, const Device&) {
    *instance = 0;
    return 0;
  });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device,
                                                       unsigned int* count) noexcept {
  return nvml_device(__func__, device, count != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       constexpr unsigned int kMostInstances = 7;
                       const NvmlValue& mig = facts.nvml.mig_mode;
                       *count = mig.status == 0 && mig.value != 0 ? kMostInstances : 0;
                       return 0;
                     });
}

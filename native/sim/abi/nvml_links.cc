// NVML: the link to the host, and those to other devices, of which there are none.
#include "sim/abi/nvml.h"

namespace umasim {
namespace {

// NVML's counters of bytes sent and received.
constexpr unsigned int kPcieCounters = 2;

nvmlReturn_t no_nvlink(const char* name, nvmlDevice_t device, bool arguments_fine) {
  return nvml_device(name, device, arguments_fine, [](const Call&, int, const Device&) {
    return int{umaprobe::kNvmlNotSupported};
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned int counter,
                                                    unsigned int* kbps) noexcept {
  const bool known = counter < kPcieCounters;
  return nvml_value(__func__, device, &NvmlAnswers::pcie_throughput, known ? kbps : nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int /*link*/,
                                                 unsigned int* active) noexcept {
  return no_nvlink(__func__, device, active != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int /*link*/,
                                                   unsigned int* version) noexcept {
  return no_nvlink(__func__, device, version != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device,
                                                            unsigned int /*link*/,
                                                            nvmlPciInfo_t* pci) noexcept {
  return no_nvlink(__func__, device, pci != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device,
                                                            unsigned int /*link*/,
                                                            unsigned int* type) noexcept {
  return no_nvlink(__func__, device, type != nullptr);
}

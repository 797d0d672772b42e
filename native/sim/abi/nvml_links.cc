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

UMASIM_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device,
                                                            unsigned int* generation) noexcept {
  return nvml_value("nvmlDeviceGetCurrPcieLinkGeneration", device, &NvmlAnswers::pcie_generation,
                    generation);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device,
                                                       unsigned int* lanes) noexcept {
  return nvml_value("nvmlDeviceGetCurrPcieLinkWidth", device, &NvmlAnswers::pcie_width, lanes);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device,
                                                           unsigned int* generation) noexcept {
  return nvml_value("nvmlDeviceGetMaxPcieLinkGeneration", device, &NvmlAnswers::max_pcie_generation,
                    generation);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
                                                              unsigned int* generation) noexcept {
  return nvml_value("nvmlDeviceGetGpuMaxPcieLinkGeneration", device,
                    &NvmlAnswers::max_pcie_generation, generation);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device,
                                                      unsigned int* lanes) noexcept {
  return nvml_value("nvmlDeviceGetMaxPcieLinkWidth", device, &NvmlAnswers::max_pcie_width, lanes);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned int counter,
                                                    unsigned int* kbps) noexcept {
  const bool known = counter < kPcieCounters;
  return nvml_value("nvmlDeviceGetPcieThroughput", device, &NvmlAnswers::pcie_throughput,
                    known ? kbps : nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int /*link*/,
                                                 unsigned int* active) noexcept {
  return no_nvlink("nvmlDeviceGetNvLinkState", device, active != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int /*link*/,
                                                   unsigned int* version) noexcept {
  return no_nvlink("nvmlDeviceGetNvLinkVersion", device, version != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device,
                                                            unsigned int /*link*/,
                                                            nvmlPciInfo_t* pci) noexcept {
  return no_nvlink("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, pci != nullptr);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device,
                                                            unsigned int /*link*/,
                                                            unsigned int* type) noexcept {
  return no_nvlink("nvmlDeviceGetNvLinkRemoteDeviceType", device, type != nullptr);
}

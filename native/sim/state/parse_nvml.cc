// Parses what NVML answers about a device.
#include "abi/nvml.h"
#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

constexpr Field<NvmlAnswers, NvmlValue> kNvmlValues[] = {
    {"addressingMode", &NvmlAnswers::addressing_mode},
    {"migMode", &NvmlAnswers::mig_mode},
    {"utilizationPercent", &NvmlAnswers::utilization},
    {"temperatureC", &NvmlAnswers::temperature},
    {"powerMilliwatt", &NvmlAnswers::power},
    {"smClockMHz", &NvmlAnswers::sm_clock},
    {"maxSmClockMHz", &NvmlAnswers::max_sm_clock},
    {"memoryClockMHz", &NvmlAnswers::memory_clock},
    {"performanceState", &NvmlAnswers::performance_state},
};

// Values that a machine file may leave out, as NVML of another driver or device may not have them.
constexpr Field<NvmlAnswers, NvmlValue> kOptionalNvmlValues[] = {
    {"pcieGeneration", &NvmlAnswers::pcie_generation},
    {"pcieWidth", &NvmlAnswers::pcie_width},
    {"maxPcieGeneration", &NvmlAnswers::max_pcie_generation},
    {"maxPcieWidth", &NvmlAnswers::max_pcie_width},
    {"pcieThroughputKBps", &NvmlAnswers::pcie_throughput},
    {"shutdownTemperatureC", &NvmlAnswers::shutdown_temperature},
    {"slowdownTemperatureC", &NvmlAnswers::slowdown_temperature},
    {"maxTemperatureC", &NvmlAnswers::max_temperature},
    {"fanPercent", &NvmlAnswers::fan},
    {"fanCount", &NvmlAnswers::fan_count},
    {"powerLimitMilliwatt", &NvmlAnswers::power_limit},
    {"minPowerLimitMilliwatt", &NvmlAnswers::min_power_limit},
    {"maxPowerLimitMilliwatt", &NvmlAnswers::max_power_limit},
    {"encoderPercent", &NvmlAnswers::encoder},
    {"decoderPercent", &NvmlAnswers::decoder},
    {"bar1Bytes", &NvmlAnswers::bar1},
    {"brand", &NvmlAnswers::brand},
    {"gpuCores", &NvmlAnswers::gpu_cores},
    {"eccMode", &NvmlAnswers::ecc_mode},
    {"persistenceMode", &NvmlAnswers::persistence_mode},
    {"computeMode", &NvmlAnswers::compute_mode},
    {"displayMode", &NvmlAnswers::display_mode},
    {"displayActive", &NvmlAnswers::display_active},
};

constexpr Field<NvmlAnswers, NvmlText> kOptionalNvmlTexts[] = {
    {"serial", &NvmlAnswers::serial},
    {"vbiosVersion", &NvmlAnswers::vbios_version},
};

// The status of a refusal by its name; 0 for any other name.
int nvml_status(const std::string& name) {
  if (name == "NOT_SUPPORTED") return umaprobe::kNvmlNotSupported;
  if (name == "NO_PERMISSION") return umaprobe::kNvmlNoPermission;
  if (name == "GPU_IS_LOST") return umaprobe::kNvmlGpuIsLost;
  if (name == "UNKNOWN") return umaprobe::kNvmlUnknown;
  return umaprobe::kNvmlSuccess;
}

void parse_value(Description& in, const std::string& path, NvmlValue& value) {
  value.status = nvml_status(in.value(path));
  if (value.status == 0) in.integer(path, &value.value);
}

}  // namespace

void parse_nvml(Description& in, const std::string& at, NvmlAnswers& nvml) {
  const std::string memory = in.value(at + "memory");
  nvml.memory = memory == "OWN"    ? NvmlMemory::kOwn
                : memory == "HOST" ? NvmlMemory::kHost
                                   : NvmlMemory::kRefused;
  nvml.memory_status = nvml_status(memory);
  if (nvml.memory == NvmlMemory::kRefused && nvml.memory_status == 0) {
    in.fail(at + "memory is \"" + memory + "\"; expected OWN, HOST or the name of a refusal");
  }
  in.boolean(at + "processMemory", &nvml.process_memory);
  for (const auto& field : kNvmlValues) parse_value(in, at + field.key, nvml.*field.member);
  for (const auto& field : kOptionalNvmlValues) {
    NvmlValue& value = nvml.*field.member;
    value.status = umaprobe::kNvmlNotSupported;
    if (in.has(at + field.key)) parse_value(in, at + field.key, value);
  }
  for (const auto& field : kOptionalNvmlTexts) {
    NvmlText& text = nvml.*field.member;
    text.status = umaprobe::kNvmlNotSupported;
    if (!in.has(at + field.key)) continue;
    text.status = nvml_status(in.value(at + field.key));
    if (text.status == 0) in.text(at + field.key, text.value);
  }
}

}  // namespace umasim

#include "sim/nvidia_smi/readings.h"

#include <initializer_list>

namespace umasim::smi {
namespace {

constexpr double kMilli = 1000;

Reading number(int status, unsigned long long value) {
  return status != 0 ? refused(status) : Reading{0, format("%llu", value)};
}

// A function of NVML that answers one number.
template <auto function>
Reading number_of(const Gpu& gpu) {
  unsigned int value = 0;
  const int status = function(gpu.handle, &value);
  return number(status, value);
}

template <auto function>
Reading text_of(const Gpu& gpu) {
  char text[128] = "";
  const int status = function(gpu.handle, text, sizeof text);
  return {status, text};
}

Reading watts(int status, unsigned int milliwatts) {
  return status != 0 ? refused(status) : Reading{0, format("%.2f", milliwatts / kMilli)};
}

template <auto function>
Reading watts_of(const Gpu& gpu) {
  unsigned int milliwatts = 0;
  const int status = function(gpu.handle, &milliwatts);
  return watts(status, milliwatts);
}

template <auto function>
Reading switched(const Gpu& gpu) {
  unsigned int on = 0;
  const int status = function(gpu.handle, &on);
  return {status, on != 0 ? "Enabled" : "Disabled"};
}

// A mode of which the pending value is not shown, as it is the current one here.
template <auto function>
Reading switched_mode(const Gpu& gpu) {
  unsigned int on = 0, pending = 0;
  const int status = function(gpu.handle, &on, &pending);
  return {status, on != 0 ? "Enabled" : "Disabled"};
}

template <auto function>
Reading codec(const Gpu& gpu) {
  unsigned int percent = 0, sampling_us = 0;
  const int status = function(gpu.handle, &percent, &sampling_us);
  return number(status, percent);
}

Reading memory(const Gpu& gpu, unsigned long long nvmlMemory_v2_t::*field) {
  nvmlMemory_v2_t now{};
  now.version = umaprobe::kNvmlMemoryV2;
  const int status = nvmlDeviceGetMemoryInfo_v2(gpu.handle, &now);
  return number(status, mib(now.*field));
}

Reading bar1(const Gpu& gpu, unsigned long long nvmlBAR1Memory_t::*field) {
  nvmlBAR1Memory_t now{};
  const int status = nvmlDeviceGetBAR1MemoryInfo(gpu.handle, &now);
  return number(status, mib(now.*field));
}

Reading utilization(const Gpu& gpu, unsigned int nvmlUtilization_t::*field) {
  nvmlUtilization_t rates{};
  const int status = nvmlDeviceGetUtilizationRates(gpu.handle, &rates);
  return number(status, rates.*field);
}

Reading threshold(const Gpu& gpu, unsigned int which) {
  unsigned int celsius = 0;
  const int status = nvmlDeviceGetTemperatureThreshold(gpu.handle, which, &celsius);
  return number(status, celsius);
}

Reading clock(const Gpu& gpu, unsigned int which) {
  unsigned int mhz = 0;
  const int status = nvmlDeviceGetClockInfo(gpu.handle, which, &mhz);
  return number(status, mhz);
}

Reading max_clock(const Gpu& gpu, unsigned int which) {
  unsigned int mhz = 0;
  const int status = nvmlDeviceGetMaxClockInfo(gpu.handle, which, &mhz);
  return number(status, mhz);
}

struct Word {
  unsigned int value;
  const char* text;
};

Reading word(int status, unsigned int value, std::initializer_list<Word> words) {
  for (const Word& word : words) {
    if (status == 0 && word.value == value) return {0, word.text};
  }
  return status != 0 ? refused(status) : Reading{0, "Unknown"};
}

template <auto function>
Reading word_of(const Gpu& gpu, std::initializer_list<Word> words) {
  unsigned int value = 0;
  const int status = function(gpu.handle, &value);
  return word(status, value, words);
}

}  // namespace

std::string shown(const Reading& reading, const char* unit) {
  if (reading.status == umaprobe::kNvmlNotSupported) return "N/A";
  if (reading.status != 0) return nvmlErrorString(reading.status);
  return *unit == '\0' ? reading.text : reading.text + " " + unit;
}

Reading name(const Gpu& gpu) { return text_of<nvmlDeviceGetName>(gpu); }
Reading serial(const Gpu& gpu) { return text_of<nvmlDeviceGetSerial>(gpu); }
Reading vbios(const Gpu& gpu) { return text_of<nvmlDeviceGetVbiosVersion>(gpu); }
Reading minor_number(const Gpu& gpu) { return number_of<nvmlDeviceGetMinorNumber>(gpu); }

// nvmlBrandType_t.
Reading brand(const Gpu& gpu) {
  return word_of<nvmlDeviceGetBrand>(gpu, {{1, "Quadro"},
                                           {2, "Tesla"},
                                           {5, "GeForce"},
                                           {12, "NVIDIA RTX"},
                                           {14, "NVIDIA"},
                                           {15, "GeForce RTX"}});
}

// nvmlDeviceArchitecture_t.
Reading architecture(const Gpu& gpu) {
  return word_of<nvmlDeviceGetArchitecture>(gpu, {{5, "Volta"},
                                                  {6, "Turing"},
                                                  {7, "Ampere"},
                                                  {8, "Ada Lovelace"},
                                                  {9, "Hopper"},
                                                  {10, "Blackwell"}});
}

Reading compute_capability(const Gpu& gpu) {
  int major = 0, minor = 0;
  const int status = nvmlDeviceGetCudaComputeCapability(gpu.handle, &major, &minor);
  return {status, format("%d.%d", major, minor)};
}

Reading addressing_mode(const Gpu& gpu) {
  nvmlDeviceAddressingMode_t mode{umaprobe::kNvmlAddressingModeV1, 0};
  const int status = nvmlDeviceGetAddressingMode(gpu.handle, &mode);
  return word(status, mode.value, {{0, "None"}, {1, "HMM"}, {2, "ATS"}});
}

Reading persistence_mode(const Gpu& gpu) { return switched<nvmlDeviceGetPersistenceMode>(gpu); }
Reading display_mode(const Gpu& gpu) { return switched<nvmlDeviceGetDisplayMode>(gpu); }
Reading display_active(const Gpu& gpu) { return switched<nvmlDeviceGetDisplayActive>(gpu); }
Reading power_management(const Gpu& gpu) { return switched<nvmlDeviceGetPowerManagementMode>(gpu); }
Reading ecc_mode(const Gpu& gpu) { return switched_mode<nvmlDeviceGetEccMode>(gpu); }
Reading mig_mode(const Gpu& gpu) { return switched_mode<nvmlDeviceGetMigMode>(gpu); }

// nvmlComputeMode_t.
Reading compute_mode(const Gpu& gpu) {
  return word_of<nvmlDeviceGetComputeMode>(
      gpu, {{0, "Default"}, {2, "Prohibited"}, {3, "Exclusive_Process"}});
}

// Errors that could not be corrected, since the last restart.
Reading ecc_errors(const Gpu& gpu) {
  unsigned long long errors = 0;
  const int status = nvmlDeviceGetTotalEccErrors(gpu.handle, 1, 0, &errors);
  return number(status, errors);
}

Reading pcie_generation(const Gpu& gpu) {
  return number_of<nvmlDeviceGetCurrPcieLinkGeneration>(gpu);
}
Reading max_pcie_generation(const Gpu& gpu) {
  return number_of<nvmlDeviceGetMaxPcieLinkGeneration>(gpu);
}
Reading gpu_max_pcie_generation(const Gpu& gpu) {
  return number_of<nvmlDeviceGetGpuMaxPcieLinkGeneration>(gpu);
}
Reading pcie_width(const Gpu& gpu) { return number_of<nvmlDeviceGetCurrPcieLinkWidth>(gpu); }
Reading max_pcie_width(const Gpu& gpu) { return number_of<nvmlDeviceGetMaxPcieLinkWidth>(gpu); }

Reading memory_total(const Gpu& gpu) { return memory(gpu, &nvmlMemory_v2_t::total); }
Reading memory_reserved(const Gpu& gpu) { return memory(gpu, &nvmlMemory_v2_t::reserved); }
Reading memory_used(const Gpu& gpu) { return memory(gpu, &nvmlMemory_v2_t::used); }
Reading memory_free(const Gpu& gpu) { return memory(gpu, &nvmlMemory_v2_t::free); }
Reading bar1_total(const Gpu& gpu) { return bar1(gpu, &nvmlBAR1Memory_t::bar1Total); }
Reading bar1_used(const Gpu& gpu) { return bar1(gpu, &nvmlBAR1Memory_t::bar1Used); }
Reading bar1_free(const Gpu& gpu) { return bar1(gpu, &nvmlBAR1Memory_t::bar1Free); }

Reading fan(const Gpu& gpu) { return number_of<nvmlDeviceGetFanSpeed>(gpu); }
Reading gpu_utilization(const Gpu& gpu) { return utilization(gpu, &nvmlUtilization_t::gpu); }
Reading memory_utilization(const Gpu& gpu) { return utilization(gpu, &nvmlUtilization_t::memory); }
Reading encoder_utilization(const Gpu& gpu) { return codec<nvmlDeviceGetEncoderUtilization>(gpu); }
Reading decoder_utilization(const Gpu& gpu) { return codec<nvmlDeviceGetDecoderUtilization>(gpu); }

Reading temperature(const Gpu& gpu) {
  unsigned int celsius = 0;
  const int status = nvmlDeviceGetTemperature(gpu.handle, umaprobe::kNvmlTemperatureGpu, &celsius);
  return number(status, celsius);
}
Reading shutdown_temperature(const Gpu& gpu) {
  return threshold(gpu, umaprobe::kNvmlTemperatureShutdown);
}
Reading slowdown_temperature(const Gpu& gpu) {
  return threshold(gpu, umaprobe::kNvmlTemperatureSlowdown);
}
Reading max_temperature(const Gpu& gpu) { return threshold(gpu, umaprobe::kNvmlTemperatureGpuMax); }

Reading power_draw(const Gpu& gpu) { return watts_of<nvmlDeviceGetPowerUsage>(gpu); }
Reading power_limit(const Gpu& gpu) { return watts_of<nvmlDeviceGetPowerManagementLimit>(gpu); }
Reading enforced_power_limit(const Gpu& gpu) {
  return watts_of<nvmlDeviceGetEnforcedPowerLimit>(gpu);
}
Reading default_power_limit(const Gpu& gpu) {
  return watts_of<nvmlDeviceGetPowerManagementDefaultLimit>(gpu);
}
Reading min_power_limit(const Gpu& gpu) {
  unsigned int least = 0, most = 0;
  const int status = nvmlDeviceGetPowerManagementLimitConstraints(gpu.handle, &least, &most);
  return watts(status, least);
}
Reading max_power_limit(const Gpu& gpu) {
  unsigned int least = 0, most = 0;
  const int status = nvmlDeviceGetPowerManagementLimitConstraints(gpu.handle, &least, &most);
  return watts(status, most);
}

Reading graphics_clock(const Gpu& gpu) { return clock(gpu, umaprobe::kNvmlClockGraphics); }
Reading sm_clock(const Gpu& gpu) { return clock(gpu, umaprobe::kNvmlClockSm); }
Reading memory_clock(const Gpu& gpu) { return clock(gpu, umaprobe::kNvmlClockMem); }
Reading max_graphics_clock(const Gpu& gpu) { return max_clock(gpu, umaprobe::kNvmlClockGraphics); }
Reading max_sm_clock(const Gpu& gpu) { return max_clock(gpu, umaprobe::kNvmlClockSm); }
Reading max_memory_clock(const Gpu& gpu) { return max_clock(gpu, umaprobe::kNvmlClockMem); }

Reading performance_state(const Gpu& gpu) {
  unsigned int state = 0;
  const int status = nvmlDeviceGetPerformanceState(gpu.handle, &state);
  return {status, format("P%u", state)};
}

Reading clock_reasons(const Gpu& gpu) {
  unsigned long long reasons = 0;
  const int status = nvmlDeviceGetCurrentClocksEventReasons(gpu.handle, &reasons);
  return {status, format("0x%016llx", reasons)};
}

Reading is_idle(const Gpu& gpu) {
  unsigned long long reasons = 0;
  const int status = nvmlDeviceGetCurrentClocksEventReasons(gpu.handle, &reasons);
  const bool idle = (reasons & umaprobe::kNvmlClocksGpuIdle) != 0;
  return {status, idle ? "Active" : "Not Active"};
}

// The simulated machine has no other reason for a low clock.
Reading is_not_slowed(const Gpu& gpu) { return {is_idle(gpu).status, "Not Active"}; }

}  // namespace umasim::smi

// NVML: readings of a device that change while it works, and their limits.
#include "sim/abi/nvml.h"
#include "sim/linux/locked.h"

namespace umasim {

bool is_busy(State& state, int device) {
  const Locked locked(state);
  return state.world.busy_until_ms[device] > state.world.now_ms;
}

namespace {

// The period over which NVML samples encoder and decoder.
constexpr unsigned int kSamplingUs = 167000;

nvmlReturn_t codec(const char* name, nvmlDevice_t device, NvmlValue NvmlAnswers::*field,
                   unsigned int* percent, unsigned int* sampling_us) {
  if (sampling_us == nullptr) return umaprobe::kNvmlInvalidArgument;
  const nvmlReturn_t status = nvml_value(name, device, field, percent);
  if (status == 0) *sampling_us = kSamplingUs;
  return status;
}

nvmlReturn_t clock_reasons(const char* name, nvmlDevice_t device, unsigned long long* reasons) {
  return nvml_device(
      name, device, reasons != nullptr, [&](const Call& call, int index, const Device&) {
        *reasons = is_busy(call.state(), index) ? 0u : unsigned{umaprobe::kNvmlClocksGpuIdle};
        return 0;
      });
}

nvmlReturn_t clock_mhz(const char* name, nvmlDevice_t device, unsigned int clock,
                       NvmlValue NvmlAnswers::*sm_clock, unsigned int* mhz) {
  const bool memory = clock == umaprobe::kNvmlClockMem;
  return nvml_value(name, device, memory ? &NvmlAnswers::memory_clock : sm_clock, mhz);
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define X(function, field)                                                              \
  UMASIM_API nvmlReturn_t function(nvmlDevice_t device, unsigned int* value) noexcept { \
    return nvml_value(__func__, device, &NvmlAnswers::field, value);                    \
  }
UMASIM_NVML_NUMBERS(X)
#undef X

UMASIM_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                      nvmlUtilization_t* rates) noexcept {
  return nvml_device(
      __func__, device, rates != nullptr, [&](const Call& call, int index, const Device& facts) {
        const NvmlValue& answer = facts.nvml.utilization;
        if (answer.status != 0) return answer.status;
        rates->gpu =
            is_busy(call.state(), index) ? kBusyPercent : static_cast<unsigned>(answer.value);
        rates->memory = 0;
        return 0;
      });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
                                                 unsigned int* celsius) noexcept {
  if (sensor != umaprobe::kNvmlTemperatureGpu) return umaprobe::kNvmlInvalidArgument;
  return nvml_value(__func__, device, &NvmlAnswers::temperature, celsius);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int clock,
                                               unsigned int* mhz) noexcept {
  return clock_mhz(__func__, device, clock, &NvmlAnswers::sm_clock, mhz);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int clock,
                                                  unsigned int* mhz) noexcept {
  return clock_mhz(__func__, device, clock, &NvmlAnswers::max_sm_clock, mhz);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(
    nvmlDevice_t device, unsigned long long* reasons) noexcept {
  return clock_reasons(__func__, device, reasons);
}

UMASIM_API nvmlReturn_t
nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) noexcept {
  return clock_reasons(__func__, device, reasons);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                                          unsigned int threshold,
                                                          unsigned int* celsius) noexcept {
  constexpr const char* kName = __func__;
  switch (threshold) {
    case umaprobe::kNvmlTemperatureShutdown:
      return nvml_value(kName, device, &NvmlAnswers::shutdown_temperature, celsius);
    case umaprobe::kNvmlTemperatureSlowdown:
      return nvml_value(kName, device, &NvmlAnswers::slowdown_temperature, celsius);
    case umaprobe::kNvmlTemperatureGpuMax:
      return nvml_value(kName, device, &NvmlAnswers::max_temperature, celsius);
    default:
      return nvml_device(kName, device, celsius != nullptr, [&](const Call&, int, const Device&) {
        return threshold < umaprobe::kNvmlTemperatureThresholds
                   ? int{umaprobe::kNvmlNotSupported}
                   : int{umaprobe::kNvmlInvalidArgument};
      });
  }
}

UMASIM_API nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan,
                                                 unsigned int* percent) noexcept {
  return nvml_device(__func__, device, percent != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       const NvmlValue& fans = facts.nvml.fan_count;
                       if (fans.status != 0) return fans.status;
                       if (fan >= fans.value) return int{umaprobe::kNvmlInvalidArgument};
                       const NvmlValue& answer = facts.nvml.fan;
                       if (answer.status == 0) *percent = static_cast<unsigned>(answer.value);
                       return answer.status;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device,
                                                         unsigned int* mode) noexcept {
  unsigned int limit;
  const nvmlReturn_t status =
      nvml_value(__func__, device, &NvmlAnswers::power_limit, mode == nullptr ? nullptr : &limit);
  if (status == 0) *mode = 1;
  return status;
}

UMASIM_API nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device,
                                                                     unsigned int* least,
                                                                     unsigned int* most) noexcept {
  return nvml_device(__func__, device, least != nullptr && most != nullptr,
                     [&](const Call&, int, const Device& facts) {
                       const NvmlValue& low = facts.nvml.min_power_limit;
                       const NvmlValue& high = facts.nvml.max_power_limit;
                       if (low.status != 0) return low.status;
                       if (high.status != 0) return high.status;
                       *least = static_cast<unsigned>(low.value);
                       *most = static_cast<unsigned>(high.value);
                       return 0;
                     });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device,
                                                            unsigned long long* mj) noexcept {
  return nvml_device(
      __func__, device, mj != nullptr, [&](const Call& call, int, const Device& facts) {
        const NvmlValue& power = facts.nvml.power;
        if (power.status != 0) return power.status;
        const Locked locked(call.state());
        constexpr double kMsPerSecond = 1000;
        *mj = static_cast<unsigned long long>(static_cast<double>(power.value) *
                                              call.state().world.now_ms / kMsPerSecond);
        return 0;
      });
}

UMASIM_API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int* percent,
                                                        unsigned int* sampling_us) noexcept {
  return codec(__func__, device, &NvmlAnswers::encoder, percent, sampling_us);
}

UMASIM_API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int* percent,
                                                        unsigned int* sampling_us) noexcept {
  return codec(__func__, device, &NvmlAnswers::decoder, percent, sampling_us);
}

// The readings that have a number instead of a function of their own. They are not simulated: each
// is refused by itself, as NVML refuses readings that a device lacks.
UMASIM_API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
                                                 nvmlFieldValue_t* values) noexcept {
  return nvml_device(__func__, device, values != nullptr && count > 0,
                     [&](const Call&, int, const Device&) {
                       for (int i = 0; i < count; i++) {
                         values[i].nvmlReturn = umaprobe::kNvmlNotSupported;
                       }
                       return 0;
                     });
}

// Numbers that one function of NVML gives of a device.
//
// X(field of the report, function, its signature, its arguments before the number…)
// Not formatted: clang-format takes the stars for multiplications.
#pragma once

// clang-format off
#define UMAPROBE_NVML_NUMBERS(X)                                                                  \
  X(temperatureC, nvmlDeviceGetTemperature,                                                       \
    int(nvmlDevice_t device, unsigned int sensor, unsigned int* c), device, kNvmlTemperatureGpu)  \
  X(powerMilliwatt, nvmlDeviceGetPowerUsage,                                                      \
    int(nvmlDevice_t device, unsigned int* milliwatt), device)                                    \
  X(smClockMHz, nvmlDeviceGetClockInfo,                                                           \
    int(nvmlDevice_t device, unsigned int clock, unsigned int* mhz), device, kNvmlClockSm)
// clang-format on

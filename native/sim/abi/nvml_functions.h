// The NVML functions that the simulated nvidia-smi calls. sim/abi/nvml.h includes this file, so
// that the compiler compares each declaration with its definition.
#pragma once
#include "abi/nvml.h"
#include "sim/abi/export.h"

UMASIM_API nvmlReturn_t nvmlInit_v2() noexcept;
UMASIM_API const char* nvmlErrorString(nvmlReturn_t status) noexcept;
UMASIM_API nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) noexcept;
UMASIM_API nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name,
                                                 unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
                                                      nvmlDevice_t* device) noexcept;

// Functions that answer one number of a machine file: X(function, field of NvmlAnswers).
#define UMASIM_NVML_NUMBERS(X)                                  \
  X(nvmlDeviceGetBrand, brand)                                  \
  X(nvmlDeviceGetNumGpuCores, gpu_cores)                        \
  X(nvmlDeviceGetPersistenceMode, persistence_mode)             \
  X(nvmlDeviceGetComputeMode, compute_mode)                     \
  X(nvmlDeviceGetDisplayMode, display_mode)                     \
  X(nvmlDeviceGetDisplayActive, display_active)                 \
  X(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation)       \
  X(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)                 \
  X(nvmlDeviceGetMaxPcieLinkGeneration, max_pcie_generation)    \
  X(nvmlDeviceGetGpuMaxPcieLinkGeneration, max_pcie_generation) \
  X(nvmlDeviceGetMaxPcieLinkWidth, max_pcie_width)              \
  X(nvmlDeviceGetPowerUsage, power)                             \
  X(nvmlDeviceGetPerformanceState, performance_state)           \
  X(nvmlDeviceGetPowerState, performance_state)                 \
  X(nvmlDeviceGetNumFans, fan_count)                            \
  X(nvmlDeviceGetFanSpeed, fan)                                 \
  X(nvmlDeviceGetPowerManagementLimit, power_limit)             \
  X(nvmlDeviceGetPowerManagementDefaultLimit, power_limit)      \
  X(nvmlDeviceGetEnforcedPowerLimit, power_limit)
#define X(function, field) \
  UMASIM_API nvmlReturn_t function(nvmlDevice_t device, unsigned int* value) noexcept;
UMASIM_NVML_NUMBERS(X)
#undef X

// The identity of a device.
UMASIM_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name,
                                          unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid,
                                          unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* serial,
                                            unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version,
                                                  unsigned int size) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minor) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device,
                                                  unsigned int* generation) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major,
                                                           int* minor) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device,
                                                    nvmlDeviceAddressingMode_t* mode) noexcept;

// The modes that it is in.
UMASIM_API nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device,
                                                         unsigned int* mode) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned int* current,
                                             unsigned int* pending) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current,
                                             unsigned int* pending) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned int type,
                                                    unsigned int counter,
                                                    unsigned long long* errors) noexcept;

// Its readings.
UMASIM_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
                                                   nvmlMemory_v2_t* memory) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device,
                                                    nvmlBAR1Memory_t* memory) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
                                                      nvmlUtilization_t* rates) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int* percent,
                                                        unsigned int* sampling_us) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int* percent,
                                                        unsigned int* sampling_us) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
                                                 unsigned int* celsius) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device,
                                                          unsigned int threshold,
                                                          unsigned int* celsius) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device,
                                                                     unsigned int* least,
                                                                     unsigned int* most) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int clock,
                                               unsigned int* mhz) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int clock,
                                                  unsigned int* mhz) noexcept;
UMASIM_API nvmlReturn_t
nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) noexcept;

// The processes on it.
UMASIM_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                unsigned int* count,
                                                                nvmlProcessInfo_t* infos) noexcept;
UMASIM_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device,
                                                                 unsigned int* count,
                                                                 nvmlProcessInfo_t* infos) noexcept;

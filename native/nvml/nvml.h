// The functions of NVML that umaprobe calls.
#pragma once

#include "abi/nvml.h"
#include "machine/library.h"
#include "nvml/numbers.h"

// X(name, signature)
// Not formatted: clang-format takes the stars for multiplications.
// clang-format off
#define UMAPROBE_NVML_FUNCTIONS(X)                                                                \
  X(nvmlInit_v2, int())                                                                           \
  X(nvmlSystemGetDriverVersion, int(char* version, unsigned int size))                            \
  X(nvmlSystemGetNVMLVersion, int(char* version, unsigned int size))                              \
  X(nvmlSystemGetCudaDriverVersion_v2, int(int* version))                                         \
  X(nvmlSystemGetCudaDriverVersion, int(int* version))                                            \
  X(nvmlDeviceGetCount_v2, int(unsigned int* count))                                              \
  X(nvmlDeviceGetHandleByIndex_v2, int(unsigned int index, nvmlDevice_t* device))                 \
  X(nvmlDeviceGetName, int(nvmlDevice_t device, char* name, unsigned int size))                   \
  X(nvmlDeviceGetUUID, int(nvmlDevice_t device, char* uuid, unsigned int size))                   \
  X(nvmlDeviceGetPciInfo_v3, int(nvmlDevice_t device, nvmlPciInfo_t* pci))                        \
  X(nvmlDeviceGetMemoryInfo, int(nvmlDevice_t device, nvmlMemory_t* memory))                      \
  X(nvmlDeviceGetMemoryInfo_v2, int(nvmlDevice_t device, nvmlMemory_v2_t* memory))                \
  X(nvmlDeviceGetComputeRunningProcesses_v3,                                                      \
    int(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos))                      \
  X(nvmlDeviceGetComputeRunningProcesses_v2,                                                      \
    int(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos))                      \
  X(nvmlDeviceGetGraphicsRunningProcesses_v3,                                                     \
    int(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos))                      \
  X(nvmlDeviceGetGraphicsRunningProcesses_v2,                                                     \
    int(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t* infos))                      \
  X(nvmlDeviceGetAddressingMode, int(nvmlDevice_t device, nvmlDeviceAddressingMode_t* mode))      \
  X(nvmlDeviceGetMigMode, int(nvmlDevice_t device, unsigned int* current, unsigned int* pending)) \
  X(nvmlDeviceGetUtilizationRates, int(nvmlDevice_t device, nvmlUtilization_t* utilization))      \
  X(nvmlErrorString, const char*(int status))
// clang-format on

namespace umaprobe {

struct Nvml {
  explicit Nvml(Library opened);

  Failure failure(const char* call, int status) const;

  Library library;
#define X(name, signature) Symbol<signature> name{#name};
  UMAPROBE_NVML_FUNCTIONS(X)
#undef X
#define X(field, name, signature, ...) Symbol<signature> name{#name};
  UMAPROBE_NVML_NUMBERS(X)
#undef X
};

Fact<const Nvml*> open_nvml(const MachineConfig& config);

// Calls nvmlInit_v2 once per process: NVML counts initializations, and each one costs a round trip
// to the driver. A failed initialization is tried again by the next call.
std::optional<Failure> initialize_nvml(const Nvml& nvml, CallContext& context);

}  // namespace umaprobe

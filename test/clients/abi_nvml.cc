// Compiles only where our declarations agree with NVIDIA's nvml.h:
//   c++ -std=c++17 -fsyntax-only -Inative -I/usr/local/cuda/include test/clients/abi_nvml.cc
#include <bits/stdc++.h>  // all of it, so that our headers bring none into the namespace below
#include <dlfcn.h>
#include <pthread.h>

#include "abi_check.h"

namespace ours {
#include "nvml/nvml.h"
#include "abi/nvml.h"
}  // namespace ours

#define NVML_NO_UNVERSIONED_FUNC_DEFS  // every function under the name that the binary has
#include NVIDIA_NVML_H

// Headers before CUDA 13 have no addressing mode: then ours is compared with itself.
#ifndef nvmlDeviceAddressingMode_v1
using nvmlDeviceAddressingMode_t = ours::nvmlDeviceAddressingMode_t;
nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t, nvmlDeviceAddressingMode_t*);
constexpr unsigned nvmlDeviceAddressingMode_v1 = ours::umaprobe::kNvmlAddressingModeV1;
#endif

#define FUNCTION(name, signature)                                                    \
  static_assert(abi::Alike<std::add_pointer_t<signature>, decltype(&::name)>::value, \
                #name " is declared differently");
UMAPROBE_NVML_FUNCTIONS(FUNCTION)

#define SAME(our, their) \
  static_assert(static_cast<unsigned>(ours::umaprobe::our) == static_cast<unsigned>(their), #their)
SAME(kNvmlSuccess, NVML_SUCCESS);
SAME(kNvmlUninitialized, NVML_ERROR_UNINITIALIZED);
SAME(kNvmlInvalidArgument, NVML_ERROR_INVALID_ARGUMENT);
SAME(kNvmlNotSupported, NVML_ERROR_NOT_SUPPORTED);
SAME(kNvmlNoPermission, NVML_ERROR_NO_PERMISSION);
SAME(kNvmlNotFound, NVML_ERROR_NOT_FOUND);
SAME(kNvmlInsufficientSize, NVML_ERROR_INSUFFICIENT_SIZE);
SAME(kNvmlDriverNotLoaded, NVML_ERROR_DRIVER_NOT_LOADED);
SAME(kNvmlTimeout, NVML_ERROR_TIMEOUT);
SAME(kNvmlLibraryNotFound, NVML_ERROR_LIBRARY_NOT_FOUND);
SAME(kNvmlFunctionNotFound, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME(kNvmlInsufficientPower, NVML_ERROR_INSUFFICIENT_POWER);
SAME(kNvmlIrqIssue, NVML_ERROR_IRQ_ISSUE);
SAME(kNvmlCorruptedInforom, NVML_ERROR_CORRUPTED_INFOROM);
SAME(kNvmlGpuIsLost, NVML_ERROR_GPU_IS_LOST);
SAME(kNvmlResetRequired, NVML_ERROR_RESET_REQUIRED);
SAME(kNvmlLibRmVersionMismatch, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME(kNvmlArgumentVersionMismatch, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME(kNvmlUnknown, NVML_ERROR_UNKNOWN);
SAME(kNvmlTemperatureGpu, NVML_TEMPERATURE_GPU);
SAME(kNvmlClockGraphics, NVML_CLOCK_GRAPHICS);
SAME(kNvmlClockSm, NVML_CLOCK_SM);
SAME(kNvmlClockMem, NVML_CLOCK_MEM);
SAME(kNvmlTemperatureShutdown, NVML_TEMPERATURE_THRESHOLD_SHUTDOWN);
SAME(kNvmlTemperatureSlowdown, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
SAME(kNvmlTemperatureGpuMax, NVML_TEMPERATURE_THRESHOLD_GPU_MAX);
SAME(kNvmlClocksGpuIdle, nvmlClocksThrottleReasonGpuIdle);
SAME(kNvmlMemoryV2, nvmlMemory_v2);
SAME(kNvmlAddressingModeV1, nvmlDeviceAddressingMode_v1);
static_assert(ours::umaprobe::kNvmlValueNotAvailable ==
              static_cast<unsigned long long>(NVML_VALUE_NOT_AVAILABLE));

#define STRUCT(name) static_assert(sizeof(ours::name) == sizeof(::name), #name)
#define MEMBER(name, member) \
  static_assert(offsetof(ours::name, member) == offsetof(::name, member), #name "." #member)
STRUCT(nvmlMemory_t);
MEMBER(nvmlMemory_t, free);
MEMBER(nvmlMemory_t, used);
STRUCT(nvmlMemory_v2_t);
MEMBER(nvmlMemory_v2_t, total);
MEMBER(nvmlMemory_v2_t, reserved);
MEMBER(nvmlMemory_v2_t, free);
MEMBER(nvmlMemory_v2_t, used);
STRUCT(nvmlProcessInfo_t);
MEMBER(nvmlProcessInfo_t, usedGpuMemory);
MEMBER(nvmlProcessInfo_t, gpuInstanceId);
MEMBER(nvmlProcessInfo_t, computeInstanceId);
STRUCT(nvmlProcessInfo_v1_t);
MEMBER(nvmlProcessInfo_v1_t, usedGpuMemory);
STRUCT(nvmlProcessUtilizationSample_t);
MEMBER(nvmlProcessUtilizationSample_t, timeStamp);
MEMBER(nvmlProcessUtilizationSample_t, smUtil);
MEMBER(nvmlProcessUtilizationSample_t, decUtil);
STRUCT(nvmlBAR1Memory_t);
MEMBER(nvmlBAR1Memory_t, bar1Free);
MEMBER(nvmlBAR1Memory_t, bar1Used);
STRUCT(nvmlFieldValue_t);
MEMBER(nvmlFieldValue_t, nvmlReturn);
MEMBER(nvmlFieldValue_t, value);
STRUCT(nvmlUtilization_t);
MEMBER(nvmlUtilization_t, memory);
STRUCT(nvmlPciInfo_t);
MEMBER(nvmlPciInfo_t, domain);
MEMBER(nvmlPciInfo_t, bus);
MEMBER(nvmlPciInfo_t, device);
MEMBER(nvmlPciInfo_t, pciDeviceId);
MEMBER(nvmlPciInfo_t, busId);
STRUCT(nvmlDeviceAddressingMode_t);
MEMBER(nvmlDeviceAddressingMode_t, value);

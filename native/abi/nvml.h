// The part of NVIDIA's NVML ABI that umaprobe calls and libumasim implements. Declared here, so
// that the build does not need nvml.h. test/clients/abi_nvml.cc checks the declarations against
// nvml.h if that header is installed.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
typedef int nvmlReturn_t;
typedef struct nvmlDevice_st* nvmlDevice_t;

typedef struct {
  unsigned long long total, free, used;
} nvmlMemory_t;

typedef struct {
  unsigned int version;  // kNvmlMemoryV2, not 2
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;  // kNvmlValueNotAvailable if the driver cannot tell
  unsigned int gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;

// The struct that process lists without a version fill.
typedef struct {
  unsigned int pid;
  unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct {
  unsigned int pid;
  unsigned long long timeStamp;  // microseconds since 1970
  unsigned int smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;

typedef struct {
  unsigned long long bar1Total, bar1Free, bar1Used;
} nvmlBAR1Memory_t;

typedef struct {
  unsigned int fieldId, scopeId;
  long long timestamp, latencyUsec;
  int valueType;
  nvmlReturn_t nvmlReturn;   // status of this field; the value is valid if it is 0
  unsigned long long value;  // a union of numbers
} nvmlFieldValue_t;

typedef struct {
  unsigned int gpu, memory;
} nvmlUtilization_t;

typedef struct {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

typedef struct {
  unsigned int version;
  unsigned int value;
} nvmlDeviceAddressingMode_t;
}

namespace umaprobe {

constexpr unsigned int kNvmlMemoryV2 = sizeof(nvmlMemory_v2_t) | (2u << 24);
constexpr unsigned int kNvmlAddressingModeV1 = sizeof(nvmlDeviceAddressingMode_t) | (1u << 24);
constexpr unsigned long long kNvmlValueNotAvailable = ~0ull;

static_assert(sizeof(nvmlMemory_t) == 24, "NVML ABI");
static_assert(sizeof(nvmlMemory_v2_t) == 40, "NVML ABI");
static_assert(sizeof(nvmlProcessInfo_t) == 24, "NVML ABI");
static_assert(sizeof(nvmlProcessInfo_v1_t) == 16, "NVML ABI");
static_assert(sizeof(nvmlProcessUtilizationSample_t) == 32, "NVML ABI");
static_assert(sizeof(nvmlFieldValue_t) == 40, "NVML ABI");
static_assert(sizeof(nvmlPciInfo_t) == 68, "NVML ABI");

enum : int {
  kNvmlSuccess = 0,
  kNvmlUninitialized = 1,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNoPermission = 4,
  kNvmlNotFound = 6,
  kNvmlInsufficientSize = 7,
  kNvmlInsufficientPower = 8,
  kNvmlDriverNotLoaded = 9,
  kNvmlTimeout = 10,
  kNvmlIrqIssue = 11,
  kNvmlLibraryNotFound = 12,
  kNvmlFunctionNotFound = 13,
  kNvmlCorruptedInforom = 14,
  kNvmlGpuIsLost = 15,
  kNvmlResetRequired = 16,
  kNvmlOperatingSystem = 17,  // device node denied by cgroups
  kNvmlLibRmVersionMismatch = 18,
  kNvmlInUse = 19,
  kNvmlMemory = 20,
  kNvmlArgumentVersionMismatch = 25,
  kNvmlGpuNotFound = 28,
  kNvmlUnknown = 999,
};

enum : unsigned int {
  kNvmlTemperatureGpu = 0,
  kNvmlClockGraphics = 0,
  kNvmlClockSm = 1,
  kNvmlClockMem = 2,
  kNvmlTemperatureShutdown = 0,
  kNvmlTemperatureSlowdown = 1,
  kNvmlTemperatureGpuMax = 3,
  kNvmlTemperatureThresholds = 8,  // the number of thresholds that have a name
  kNvmlClocksGpuIdle = 1,          // reason for low clocks
};

}  // namespace umaprobe

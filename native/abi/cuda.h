// The part of NVIDIA's CUDA runtime and driver ABI that umaprobe calls and libumasim implements.
// Declared here, so that the build needs no CUDA toolkit. test/clients/abi_cuda.cc checks the
// declarations against cuda.h and cuda_runtime_api.h if those headers are installed.
#pragma once
#include <cstddef>
#include <cstdint>

// Device attributes that are reported; a simulated machine describes the same ones.
//
// X(name in DEVICE_ATTRIBUTES of lib/types/device.ts, number, name behind cudaDevAttr, name behind
// CU_DEVICE_ATTRIBUTE_). The runtime's headers have no other name for number 124.
// clang-format off
#define UMAPROBE_CUDA_ATTRIBUTES(X)                                                      \
  X(integrated, 18, Integrated, INTEGRATED)                                              \
  X(managedMemory, 83, ManagedMemory, MANAGED_MEMORY)                                    \
  X(concurrentManagedAccess, 89, ConcurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)     \
  X(pageableMemoryAccess, 88, PageableMemoryAccess, PAGEABLE_MEMORY_ACCESS)              \
  X(pageableMemoryAccessUsesHostPageTables, 100, PageableMemoryAccessUsesHostPageTables, \
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)                                        \
  X(directManagedMemAccessFromHost, 101, DirectManagedMemAccessFromHost,                 \
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)                                                 \
  X(hostRegisterSupported, 99, HostRegisterSupported, HOST_REGISTER_SUPPORTED)           \
  X(hostRegisterReadOnlySupported, 113, HostRegisterReadOnlySupported,                   \
    READ_ONLY_HOST_REGISTER_SUPPORTED)                                                   \
  X(canMapHostMemory, 19, CanMapHostMemory, CAN_MAP_HOST_MEMORY)                         \
  X(unifiedAddressing, 41, UnifiedAddressing, UNIFIED_ADDRESSING)                        \
  X(memoryPoolsSupported, 115, MemoryPoolsSupported, MEMORY_POOLS_SUPPORTED)             \
  X(gpuDirectRdmaSupported, 116, GPUDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED)      \
  X(dmaBufSupported, 124, Reserved124, DMA_BUF_SUPPORTED)                                \
  X(l2CacheSize, 38, L2CacheSize, L2_CACHE_SIZE)                                         \
  X(multiProcessorCount, 16, MultiProcessorCount, MULTIPROCESSOR_COUNT)                  \
  X(globalMemoryBusWidth, 37, GlobalMemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)             \
  X(memoryClockRateKHz, 36, MemoryClockRate, MEMORY_CLOCK_RATE)                          \
  X(clockRateKHz, 13, ClockRate, CLOCK_RATE)                                             \
  X(asyncEngineCount, 40, AsyncEngineCount, ASYNC_ENGINE_COUNT)                          \
  X(hostNumaId, 134, HostNumaId, HOST_NUMA_ID)
// clang-format on

extern "C" {
typedef int CUresult;
typedef int CUdevice;
typedef int cudaError_t;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
struct CUuuid {
  char bytes[16];
};
}

namespace umaprobe {

// cudaError_t and CUresult use the same numbers for these statuses, but not for all.
enum : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaOutOfMemory = 2,
  kCudaNotInitialized = 3,
  kCudaStubLibrary = 34,         // CUDA_ERROR_STUB_LIBRARY / cudaErrorStubLibrary
  kCudaInsufficientDriver = 35,  // cudaErrorInsufficientDriver
  kCudaCallRequiresNewerDriver = 36,
  kCudaDevicesUnavailable = 46,  // "devices busy or unavailable"
  kCudaNoDevice = 100,
  kCudaInvalidDevice = 101,
  kCudaNotLicensed = 102,  // vGPU
  kCudaInvalidContext = 201,
  kCudaEccUncorrectable = 214,
  kCudaNvlinkUncorrectable = 220,
  kCudaOperatingSystem = 304,
  kCudaNotFound = 500,
  kCudaIllegalAddress = 700,
  kCudaLaunchFailed = 719,
  kCudaNotPermitted = 800,
  kCudaNotSupported = 801,
  kCudaSystemNotReady = 802,
  kCudaSystemDriverMismatch = 803,
  kCudaCompatNotSupported = 804,  // forward compatibility package on an unsupported device
  kCudaMpsConnectionFailed = 805,
  kCudaMpsRpcFailure = 806,
  kCudaMpsServerNotReady = 807,
  kCudaMpsMaxClients = 808,
  kCudaMpsMaxConnections = 809,
  kCudaUnknown = 999,
};

// Flags of the allocators of driver and runtime.
enum : unsigned int {
  kMemAttachGlobal = 1,  // CU_MEM_ATTACH_GLOBAL: managed memory for every stream
  kHostAllocMapped = 2,  // CU_MEMHOSTALLOC_DEVICEMAP: pinned memory mapped for the device
};

// cudaMemcpyDefault: the addresses decide the direction.
enum : int { kMemcpyDefault = 4 };

// CUdevice_attribute. cudaDeviceAttr has the same numbers.
enum DeviceAttribute : int {
  kAttrPciBusId = 33,
  kAttrPciDeviceId = 34,
  kAttrPciDomainId = 50,
  kAttrComputeCapabilityMajor = 75,
  kAttrComputeCapabilityMinor = 76,
#define X(name, number, runtime, driver) kAttr##runtime = (number),
  UMAPROBE_CUDA_ATTRIBUTES(X)
#undef X
};

}  // namespace umaprobe

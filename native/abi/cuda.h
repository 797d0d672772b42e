// The part of NVIDIA's CUDA runtime and driver ABI that umaprobe calls and libumasim implements.
// Declared here, so that the build needs no CUDA toolkit. test/clients/abi_cuda.cc checks the
// declarations against cuda.h and cuda_runtime_api.h if those headers are installed.
#pragma once
#include <cstddef>
#include <cstdint>

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
  kAttrClockRate = 13,
  kAttrMultiProcessorCount = 16,
  kAttrIntegrated = 18,
  kAttrCanMapHostMemory = 19,
  kAttrPciBusId = 33,
  kAttrPciDeviceId = 34,
  kAttrMemoryClockRate = 36,
  kAttrGlobalMemoryBusWidth = 37,
  kAttrL2CacheSize = 38,
  kAttrAsyncEngineCount = 40,
  kAttrUnifiedAddressing = 41,
  kAttrPciDomainId = 50,
  kAttrComputeCapabilityMajor = 75,
  kAttrComputeCapabilityMinor = 76,
  kAttrManagedMemory = 83,
  kAttrPageableMemoryAccess = 88,
  kAttrConcurrentManagedAccess = 89,
  kAttrHostRegisterSupported = 99,
  kAttrPageableMemoryAccessUsesHostPageTables = 100,
  kAttrDirectManagedMemAccessFromHost = 101,
  kAttrHostRegisterReadOnlySupported = 113,
  kAttrMemoryPoolsSupported = 115,
  kAttrGpuDirectRdmaSupported = 116,
  kAttrDmaBufSupported = 124,
  kAttrHostNumaId = 134,
};

}  // namespace umaprobe

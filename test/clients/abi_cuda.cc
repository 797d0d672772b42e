// Compiles only where our declarations agree with NVIDIA's CUDA headers:
//   c++ -std=c++17 -fsyntax-only -Inative -I/usr/local/cuda/include test/clients/abi_cuda.cc
#include <bits/stdc++.h>  // all of it, so that our headers bring none into the namespace below
#include <dlfcn.h>
#include <pthread.h>

#include "abi_check.h"

// Ours in a namespace, because both define CUresult; and first, because NVIDIA's header renames
// functions with macros.
namespace ours {
#include "abi/cuda.h"
#include "cuda/runtime.h"
#include "cuda/driver.h"
#include "sim/gpu/device_properties.h"
}  // namespace ours

#define __CUDA_API_VERSION_INTERNAL  // cuda.h: every function under the name that the binary has
#include <cuda.h>
#include <cuda_runtime_api.h>

#define FUNCTION(name, signature)                                                    \
  static_assert(abi::Alike<std::add_pointer_t<signature>, decltype(&::name)>::value, \
                #name " is declared differently");
UMAPROBE_CUDART_FUNCTIONS(FUNCTION)
UMAPROBE_CUDA_FUNCTIONS(FUNCTION)

#define SAME(our, their) \
  static_assert(static_cast<int>(ours::umaprobe::our) == static_cast<int>(their), #their)
SAME(kCudaSuccess, cudaSuccess);
SAME(kCudaSuccess, CUDA_SUCCESS);
SAME(kCudaInvalidValue, cudaErrorInvalidValue);
SAME(kCudaInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(kCudaOutOfMemory, cudaErrorMemoryAllocation);
SAME(kCudaOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kCudaNotInitialized, cudaErrorInitializationError);
SAME(kCudaNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(kCudaStubLibrary, cudaErrorStubLibrary);
SAME(kCudaStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(kCudaInsufficientDriver, cudaErrorInsufficientDriver);
SAME(kCudaDevicesUnavailable, cudaErrorDevicesUnavailable);
SAME(kCudaDevicesUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SAME(kCudaNoDevice, cudaErrorNoDevice);
SAME(kCudaNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kCudaInvalidDevice, cudaErrorInvalidDevice);
SAME(kCudaInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(kCudaInvalidContext, cudaErrorDeviceUninitialized);
SAME(kCudaInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(kCudaNotLicensed, cudaErrorDeviceNotLicensed);
SAME(kCudaNotLicensed, CUDA_ERROR_DEVICE_NOT_LICENSED);
SAME(kCudaNvlinkUncorrectable, cudaErrorNvlinkUncorrectable);
SAME(kCudaNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(kCudaOperatingSystem, cudaErrorOperatingSystem);
SAME(kCudaOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM);
SAME(kCudaIllegalAddress, cudaErrorIllegalAddress);
SAME(kCudaIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(kCudaLaunchFailed, cudaErrorLaunchFailure);
SAME(kCudaLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(kCudaMpsConnectionFailed, CUDA_ERROR_MPS_CONNECTION_FAILED);
SAME(kCudaMpsMaxConnections, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED);
SAME(kCudaNotFound, cudaErrorSymbolNotFound);
SAME(kCudaNotFound, CUDA_ERROR_NOT_FOUND);
SAME(kCudaNotSupported, cudaErrorNotSupported);
SAME(kCudaNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(kCudaUnknown, cudaErrorUnknown);
SAME(kCudaUnknown, CUDA_ERROR_UNKNOWN);

SAME(kMemAttachGlobal, cudaMemAttachGlobal);
SAME(kMemAttachGlobal, CU_MEM_ATTACH_GLOBAL);
SAME(kHostAllocMapped, cudaHostAllocMapped);
SAME(kHostAllocMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(kMemcpyDefault, cudaMemcpyDefault);

#define ATTRIBUTE(our, runtime, driver) \
  SAME(our, runtime);                   \
  SAME(our, CU_DEVICE_ATTRIBUTE_##driver)
ATTRIBUTE(kAttrClockRate, cudaDevAttrClockRate, CLOCK_RATE);
ATTRIBUTE(kAttrMultiProcessorCount, cudaDevAttrMultiProcessorCount, MULTIPROCESSOR_COUNT);
ATTRIBUTE(kAttrIntegrated, cudaDevAttrIntegrated, INTEGRATED);
ATTRIBUTE(kAttrCanMapHostMemory, cudaDevAttrCanMapHostMemory, CAN_MAP_HOST_MEMORY);
ATTRIBUTE(kAttrPciBusId, cudaDevAttrPciBusId, PCI_BUS_ID);
ATTRIBUTE(kAttrPciDeviceId, cudaDevAttrPciDeviceId, PCI_DEVICE_ID);
ATTRIBUTE(kAttrMemoryClockRate, cudaDevAttrMemoryClockRate, MEMORY_CLOCK_RATE);
ATTRIBUTE(kAttrGlobalMemoryBusWidth, cudaDevAttrGlobalMemoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH);
ATTRIBUTE(kAttrL2CacheSize, cudaDevAttrL2CacheSize, L2_CACHE_SIZE);
ATTRIBUTE(kAttrAsyncEngineCount, cudaDevAttrAsyncEngineCount, ASYNC_ENGINE_COUNT);
ATTRIBUTE(kAttrUnifiedAddressing, cudaDevAttrUnifiedAddressing, UNIFIED_ADDRESSING);
ATTRIBUTE(kAttrPciDomainId, cudaDevAttrPciDomainId, PCI_DOMAIN_ID);
ATTRIBUTE(kAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR);
ATTRIBUTE(kAttrComputeCapabilityMinor, cudaDevAttrComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR);
ATTRIBUTE(kAttrManagedMemory, cudaDevAttrManagedMemory, MANAGED_MEMORY);
ATTRIBUTE(kAttrPageableMemoryAccess, cudaDevAttrPageableMemoryAccess, PAGEABLE_MEMORY_ACCESS);
ATTRIBUTE(kAttrConcurrentManagedAccess, cudaDevAttrConcurrentManagedAccess,
          CONCURRENT_MANAGED_ACCESS);
ATTRIBUTE(kAttrHostRegisterSupported, cudaDevAttrHostRegisterSupported, HOST_REGISTER_SUPPORTED);
ATTRIBUTE(kAttrPageableMemoryAccessUsesHostPageTables,
          cudaDevAttrPageableMemoryAccessUsesHostPageTables,
          PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
ATTRIBUTE(kAttrDirectManagedMemAccessFromHost, cudaDevAttrDirectManagedMemAccessFromHost,
          DIRECT_MANAGED_MEM_ACCESS_FROM_HOST);
ATTRIBUTE(kAttrHostRegisterReadOnlySupported, cudaDevAttrHostRegisterReadOnlySupported,
          READ_ONLY_HOST_REGISTER_SUPPORTED);
ATTRIBUTE(kAttrMemoryPoolsSupported, cudaDevAttrMemoryPoolsSupported, MEMORY_POOLS_SUPPORTED);
ATTRIBUTE(kAttrGpuDirectRdmaSupported, cudaDevAttrGPUDirectRDMASupported,
          GPU_DIRECT_RDMA_SUPPORTED);
SAME(kAttrDmaBufSupported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
#if CUDART_VERSION >= 12000
ATTRIBUTE(kAttrHostNumaId, cudaDevAttrHostNumaId, HOST_NUMA_ID);
#endif

static_assert(sizeof(ours::CUuuid) == sizeof(::CUuuid));
static_assert(sizeof(ours::CUdeviceptr) == sizeof(::CUdeviceptr));

// The simulator writes cudaDeviceProp by offset: that of the version whose header this is.
constexpr ours::umasim::PropertyLayout kLayout =
    CUDART_VERSION >= 13000   ? ours::umasim::kProperties13
    : CUDART_VERSION >= 12000 ? ours::umasim::kProperties12
                              : ours::umasim::kProperties11;
static_assert(kLayout.size == sizeof(cudaDeviceProp));
static_assert(kLayout.uuid == offsetof(cudaDeviceProp, uuid));
static_assert(kLayout.total_global_mem == offsetof(cudaDeviceProp, totalGlobalMem));
#define FIELD(name, attribute, bytes, until_12, in_13)                                              \
  static_assert(sizeof(std::declval<cudaDeviceProp>().name) == (bytes), #name);                     \
  static_assert(offsetof(cudaDeviceProp, name) == (kLayout.cuda == 13 ? (in_13) : (until_12)), #name);
UMASIM_PROPERTIES(FIELD)
#if CUDART_VERSION < 13000
UMASIM_PROPERTIES_UNTIL_12(FIELD)
#endif
#if CUDART_VERSION >= 12000
UMASIM_PROPERTIES_SINCE_12(FIELD)
#endif

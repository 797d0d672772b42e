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

#if CUDART_VERSION < 12000  // names that these headers lack
#define cudaDevAttrReserved124 124
#define cudaDevAttrHostNumaId 134
#define CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID 134
#endif
#define ATTRIBUTE(name, number, runtime, driver) \
  SAME(kAttr##runtime, cudaDevAttr##runtime);    \
  SAME(kAttr##runtime, CU_DEVICE_ATTRIBUTE_##driver);
UMAPROBE_CUDA_ATTRIBUTES(ATTRIBUTE)
ATTRIBUTE(, , PciBusId, PCI_BUS_ID)
ATTRIBUTE(, , PciDeviceId, PCI_DEVICE_ID)
ATTRIBUTE(, , PciDomainId, PCI_DOMAIN_ID)
ATTRIBUTE(, , ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR)
ATTRIBUTE(, , ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR)

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

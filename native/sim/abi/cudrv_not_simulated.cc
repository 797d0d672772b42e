// CUDA driver: functions that the simulated machine lacks, and that programs such as llama.cpp and
// PyTorch are linked with or insist on finding: virtual memory management, multicast, occupancy and
// memory pools. The programs start, and a call answers that it is not supported. All other
// functions that are missing are not found.
#include "sim/abi/cudrv.h"

// clang-format off
#define UMASIM_NOT_SIMULATED(X) \
  X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) \
  X(cuMemUnmap) X(cuMemSetAccess) X(cuMemGetAccess) X(cuMemGetAllocationGranularity) \
  X(cuMemGetAllocationPropertiesFromHandle) X(cuMemExportToShareableHandle) \
  X(cuMemImportFromShareableHandle) X(cuMemRetainAllocationHandle) \
  X(cuMulticastCreate) X(cuMulticastAddDevice) X(cuMulticastBindMem) X(cuMulticastBindAddr) \
  X(cuMulticastUnbind) X(cuMulticastGetGranularity) \
  X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuDeviceGetDefaultMemPool) X(cuMemPoolSetAttribute) \
  X(cuMemPoolGetAttribute) X(cuMemPoolTrimTo) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuFuncSetAttribute) X(cuFuncSetCacheConfig) \
  X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuModuleLoad) X(cuModuleLoadFatBinary) \
  X(cuModuleGetGlobal_v2) X(cuLinkCreate_v2) X(cuLinkAddData_v2) X(cuLinkComplete) \
  X(cuLinkDestroy) X(cuLibraryLoadData) X(cuLibraryGetKernel) X(cuLibraryUnload) \
  X(cuPointerGetAttribute) X(cuPointerGetAttributes) X(cuMemGetAddressRange_v2) \
  X(cuIpcGetMemHandle) X(cuIpcOpenMemHandle_v2) X(cuIpcCloseMemHandle) \
  X(cuStreamWriteValue32_v2) X(cuStreamWaitValue32_v2) X(cuCtxEnablePeerAccess) \
  X(cuTensorMapEncodeTiled)
// clang-format on

namespace umasim {
namespace {

CUresult not_simulated(const char* name) {
  return driver(name, [](const Call&) { return int{umaprobe::kCudaNotSupported}; });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define UMASIM_REFUSE(name) \
  UMASIM_API CUresult name() noexcept { return not_simulated(#name); }
UMASIM_NOT_SIMULATED(UMASIM_REFUSE)

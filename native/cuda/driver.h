// The functions of the CUDA driver that umaprobe calls.
#pragma once

#include "abi/cuda.h"
#include "machine/library.h"

// X(name, signature)
// Not formatted: clang-format takes the stars for multiplications.
// clang-format off
#define UMAPROBE_CUDA_FUNCTIONS(X)                                                        \
  X(cuInit, int(unsigned int flags))                                                      \
  X(cuDriverGetVersion, int(int* version))                                                \
  X(cuDeviceGetCount, int(int* count))                                                    \
  X(cuDeviceGet, int(CUdevice* device, int ordinal))                                      \
  X(cuDeviceGetName, int(char* name, int size, CUdevice device))                          \
  X(cuDeviceGetUuid, int(CUuuid* uuid, CUdevice device))                                  \
  X(cuDeviceGetUuid_v2, int(CUuuid* uuid, CUdevice device))                               \
  X(cuDeviceGetPCIBusId, int(char* id, int size, CUdevice device))                        \
  X(cuDeviceGetAttribute, int(int* value, int attribute, CUdevice device))                \
  X(cuDeviceTotalMem_v2, int(size_t* bytes, CUdevice device))                             \
  X(cuDevicePrimaryCtxGetState, int(CUdevice device, unsigned int* flags, int* active))   \
  X(cuDevicePrimaryCtxRetain, int(CUcontext* context, CUdevice device))                   \
  X(cuDevicePrimaryCtxRelease_v2, int(CUdevice device))                                   \
  X(cuCtxGetCurrent, int(CUcontext* context))                                             \
  X(cuCtxSetCurrent, int(CUcontext context))                                              \
  X(cuMemGetInfo_v2, int(size_t* free, size_t* total))                                    \
  X(cuMemAlloc_v2, int(CUdeviceptr* address, size_t bytes))                               \
  X(cuMemAllocManaged, int(CUdeviceptr* address, size_t bytes, unsigned int flags))       \
  X(cuMemHostAlloc, int(void** address, size_t bytes, unsigned int flags))                \
  X(cuMemFree_v2, int(CUdeviceptr address))                                               \
  X(cuMemFreeHost, int(void* address))                                                    \
  X(cuMemsetD8_v2, int(CUdeviceptr address, unsigned char value, size_t bytes))           \
  X(cuMemcpyHtoD_v2, int(CUdeviceptr to, const void* from, size_t bytes))                 \
  X(cuMemcpyDtoH_v2, int(void* to, CUdeviceptr from, size_t bytes))                       \
  X(cuCtxSynchronize, int())                                                              \
  X(cuModuleLoadData, int(CUmodule* module, const void* image))                           \
  X(cuModuleUnload, int(CUmodule module))                                                 \
  X(cuModuleGetFunction, int(CUfunction* function, CUmodule module, const char* name))    \
  X(cuLaunchKernel, int(CUfunction function, unsigned int grid_x, unsigned int grid_y,    \
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,  \
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream, \
                        void** parameters, void** extra))                                 \
  X(cuGetErrorString, int(int status, const char** text))
// clang-format on

namespace umaprobe {

struct CudaDriver {
  explicit CudaDriver(Library opened);

  Failure failure(const char* call, int status) const;

  Library library;
#define X(name, signature) Symbol<signature> name{#name};
  UMAPROBE_CUDA_FUNCTIONS(X)
#undef X
};

Fact<const CudaDriver*> open_cuda_driver(const MachineConfig& config);

}  // namespace umaprobe

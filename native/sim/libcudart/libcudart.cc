// The libcudart of one CUDA version, UMASIM_CUDA: libcudart.so.11.0, .12 or .13. It depends on
// libumasim, where all other functions are. The loader gives a program that was linked with
// NVIDIA's library the functions of its version by their symbol version, and a program that opens
// the library by its name the functions of that library. One library under three names could do
// neither.
#include "abi/umasim_cudart.h"
#include "sim/abi/export.h"

#ifndef UMASIM_CUDA
#define UMASIM_CUDA 13  // the build says which; this is for tools that read the file alone
#endif

UMASIM_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return umasim_cudart_version(UMASIM_CUDA, version);
}

UMASIM_API cudaError_t cudaSetDevice(int device) {
  return umasim_cudart_set_device(UMASIM_CUDA, device);
}

#if UMASIM_CUDA == 12
// The header of CUDA 12 renames the function; under the old name is the struct of CUDA 11.
UMASIM_API cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  return umasim_cudart_properties(11, properties, device);
}
UMASIM_API cudaError_t cudaGetDeviceProperties_v2(void* properties, int device) {
  return umasim_cudart_properties(12, properties, device);
}
#else
UMASIM_API cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  return umasim_cudart_properties(UMASIM_CUDA, properties, device);
}
#endif

using Flags = unsigned long long;
#if UMASIM_CUDA == 11
UMASIM_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, Flags) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, 0, nullptr);
}
UMASIM_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function, Flags) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, 0, nullptr);
}
#else
UMASIM_API cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, Flags,
                                               int* found) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, 0, found);
}
UMASIM_API cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function, Flags,
                                                    int* found) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, 0, found);
}
UMASIM_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                        unsigned int version, Flags, int* found) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, static_cast<int>(version), found);
}
UMASIM_API cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                             unsigned int version, Flags,
                                                             int* found) {
  return umasim_cudart_entry_point(UMASIM_CUDA, name, function, static_cast<int>(version), found);
}
#endif

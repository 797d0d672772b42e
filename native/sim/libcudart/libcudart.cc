// The libcudart of one CUDA version, UMASIM_CUDA: libcudart.so.11.0, .12 or .13. It depends on
// libumasim, where all other functions are. The loader gives a program that was linked with
// NVIDIA's library the functions of its version by their symbol version, and one that opens the
// library by its name those of that library. One library under three names could do neither.
#include "abi/umasim_cudart.h"
#include "sim/abi/export.h"

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

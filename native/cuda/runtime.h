// The functions of the CUDA runtime that umaprobe calls.
//
// None of them fills a struct: the layout of cudaDeviceProp differs between CUDA versions.
#pragma once

#include "abi/cuda.h"
#include "machine/library.h"

// X(name, signature)
// Not formatted: clang-format takes the stars for multiplications.
// clang-format off
#define UMAPROBE_CUDART_FUNCTIONS(X)                                          \
  X(cudaRuntimeGetVersion, int(int* version))                                 \
  X(cudaDriverGetVersion, int(int* version))                                  \
  X(cudaGetDeviceCount, int(int* count))                                      \
  X(cudaGetDevice, int(int* device))                                          \
  X(cudaSetDevice, int(int device))                                           \
  X(cudaDeviceGetAttribute, int(int* value, int attribute, int device))       \
  X(cudaDeviceGetPCIBusId, int(char* id, int size, int device))               \
  X(cudaMemGetInfo, int(size_t* free, size_t* total))                         \
  X(cudaMalloc, int(void** address, size_t bytes))                            \
  X(cudaMallocManaged, int(void** address, size_t bytes, unsigned int flags)) \
  X(cudaHostAlloc, int(void** address, size_t bytes, unsigned int flags))     \
  X(cudaFree, int(void* address))                                             \
  X(cudaFreeHost, int(void* address))                                         \
  X(cudaMemset, int(void* address, int value, size_t bytes))                  \
  X(cudaDeviceSynchronize, int())                                             \
  X(cudaGetLastError, int())                                                  \
  X(cudaGetErrorString, const char*(int status))
// clang-format on

namespace umaprobe {

struct Cudart {
  explicit Cudart(Library opened);

  // Describes a failed call and clears the sticky error that it left on this thread.
  Failure failure(const char* call, int status) const;

  Library library;
#define X(name, signature) Symbol<signature> name{#name};
  UMAPROBE_CUDART_FUNCTIONS(X)
#undef X
};

Fact<const Cudart*> open_cudart(const MachineConfig& config);

}  // namespace umaprobe

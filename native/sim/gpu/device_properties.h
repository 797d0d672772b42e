// cudaDeviceProp of CUDA 11, 12 and 13: the offsets of the filled fields. The struct of CUDA 12 is
// that of CUDA 11 with more behind it; CUDA 13 has removed fields. test/clients/abi_cuda.cc
// compares the lists with NVIDIA's header of whichever version is installed.
#pragma once
#include <cstddef>

#include "sim/state/machine.h"

// X(field, number of its attribute as in cudaDeviceAttr, bytes, offset in CUDA 11 and 12, in 13)
#define UMASIM_PROPERTIES(X)                                  \
  X(sharedMemPerBlock, 8, 8, 296, 296)                        \
  X(regsPerBlock, 12, 4, 304, 304)                            \
  X(warpSize, 10, 4, 308, 308)                                \
  X(memPitch, 11, 8, 312, 312)                                \
  X(maxThreadsPerBlock, 1, 4, 320, 320)                       \
  X(maxThreadsDim[0], 2, 4, 324, 324)                         \
  X(maxThreadsDim[1], 3, 4, 328, 328)                         \
  X(maxThreadsDim[2], 4, 4, 332, 332)                         \
  X(maxGridSize[0], 5, 4, 336, 336)                           \
  X(maxGridSize[1], 6, 4, 340, 340)                           \
  X(maxGridSize[2], 7, 4, 344, 344)                           \
  X(totalConstMem, 9, 8, 352, 352)                            \
  X(major, 75, 4, 360, 360)                                   \
  X(minor, 76, 4, 364, 364)                                   \
  X(textureAlignment, 14, 8, 368, 368)                        \
  X(texturePitchAlignment, 51, 8, 376, 376)                   \
  X(multiProcessorCount, 16, 4, 388, 384)                     \
  X(integrated, 18, 4, 396, 388)                              \
  X(canMapHostMemory, 19, 4, 400, 392)                        \
  X(maxTexture1D, 21, 4, 408, 396)                            \
  X(maxTexture2D[0], 22, 4, 420, 404)                         \
  X(maxTexture2D[1], 23, 4, 424, 408)                         \
  X(maxTexture3D[0], 24, 4, 456, 440)                         \
  X(maxTexture3D[1], 25, 4, 460, 444)                         \
  X(maxTexture3D[2], 26, 4, 464, 448)                         \
  X(maxTexture1DLayered[0], 42, 4, 484, 468)                  \
  X(maxTexture1DLayered[1], 43, 4, 488, 472)                  \
  X(maxTexture2DLayered[0], 27, 4, 492, 476)                  \
  X(maxTexture2DLayered[1], 28, 4, 496, 480)                  \
  X(maxTexture2DLayered[2], 29, 4, 500, 484)                  \
  X(surfaceAlignment, 30, 8, 568, 552)                        \
  X(concurrentKernels, 31, 4, 576, 560)                       \
  X(pciBusID, 33, 4, 584, 568)                                \
  X(pciDeviceID, 34, 4, 588, 572)                             \
  X(pciDomainID, 50, 4, 592, 576)                             \
  X(asyncEngineCount, 40, 4, 600, 584)                        \
  X(unifiedAddressing, 41, 4, 604, 588)                       \
  X(memoryBusWidth, 37, 4, 612, 592)                          \
  X(l2CacheSize, 38, 4, 616, 596)                             \
  X(maxThreadsPerMultiProcessor, 39, 4, 624, 604)             \
  X(streamPrioritiesSupported, 78, 4, 628, 608)               \
  X(globalL1CacheSupported, 79, 4, 632, 612)                  \
  X(localL1CacheSupported, 80, 4, 636, 616)                   \
  X(sharedMemPerMultiprocessor, 81, 8, 640, 624)              \
  X(regsPerMultiprocessor, 82, 4, 648, 632)                   \
  X(managedMemory, 83, 4, 652, 636)                           \
  X(pageableMemoryAccess, 88, 4, 672, 652)                    \
  X(concurrentManagedAccess, 89, 4, 676, 656)                 \
  X(computePreemptionSupported, 90, 4, 680, 660)              \
  X(cooperativeLaunch, 95, 4, 688, 668)                       \
  X(sharedMemPerBlockOptin, 97, 8, 696, 672)                  \
  X(pageableMemoryAccessUsesHostPageTables, 100, 4, 704, 680) \
  X(directManagedMemAccessFromHost, 101, 4, 708, 684)         \
  X(maxBlocksPerMultiProcessor, 106, 4, 712, 688)             \
  X(reservedSharedMemPerBlock, 111, 8, 720, 696)
#define UMASIM_PROPERTIES_UNTIL_12(X) \
  X(clockRate, 13, 4, 348, 0)         \
  X(deviceOverlap, 15, 4, 384, 0)     \
  X(memoryClockRate, 36, 4, 608, 0)
#define UMASIM_PROPERTIES_SINCE_12(X)                \
  X(hostRegisterSupported, 99, 4, 728, 704)          \
  X(hostRegisterReadOnlySupported, 113, 4, 736, 712) \
  X(memoryPoolsSupported, 115, 4, 744, 720)          \
  X(gpuDirectRDMASupported, 116, 4, 748, 724)

namespace umasim {

struct PropertyLayout {
  int cuda;  // 11, 12 or 13
  size_t size, uuid, total_global_mem;
};
constexpr PropertyLayout kProperties11 = {11, 728, 256, 288};
constexpr PropertyLayout kProperties12 = {12, 1032, 256, 288};
constexpr PropertyLayout kProperties13 = {13, 1008, 256, 288};

// Clears the struct and fills it. Writes exactly layout.size bytes.
void fill_properties(const Machine& machine, int device, uint64_t total,
                     const PropertyLayout& layout, void* properties);

}  // namespace umasim

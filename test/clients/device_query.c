/* The calls of deviceQuery of NVIDIA's CUDA samples (12.4), in its order and with its error checks, written anew: the
 * sample itself needs the samples' headers. Its lines that say something about memory, limits and addresses are
 * printed the same.
 *
 * cc -I/usr/local/cuda/include device_query.c -L/usr/local/cuda/lib64 -lcudart -o device_query */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                   \
  do {                                                                                \
    const cudaError_t status = (call);                                                \
    if (status != cudaSuccess) {                                                      \
      fprintf(stderr, "CUDA error at %s code=%d(%s)\n", #call, (int)status,           \
              cudaGetErrorName(status));                                              \
      exit(EXIT_FAILURE);                                                             \
    }                                                                                 \
  } while (0)

static const char* yes_no(int value) { return value ? "Yes" : "No"; }

static void show_device(int device, int* driver, int* runtime) {
  struct cudaDeviceProp prop;
  int clock_khz, memory_clock_khz;
  cudaSetDevice(device);
  cudaGetDeviceProperties(&prop, device);
  printf("\nDevice %d: \"%s\"\n", device, prop.name);
  cudaDriverGetVersion(driver);
  cudaRuntimeGetVersion(runtime);
  printf("  CUDA Driver Version / Runtime Version          %d.%d / %d.%d\n", *driver / 1000,
         (*driver % 100) / 10, *runtime / 1000, (*runtime % 100) / 10);
  printf("  CUDA Capability Major/Minor version number:    %d.%d\n", prop.major, prop.minor);
  printf("  Total amount of global memory:                 %.0f MBytes (%llu bytes)\n",
         (double)((float)prop.totalGlobalMem / 1048576.0f),
         (unsigned long long)prop.totalGlobalMem);
  printf("  (%03d) Multiprocessors\n", prop.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device));
  printf("  GPU Max Clock rate:                            %.0f MHz (%0.2f GHz)\n",
         clock_khz * 1e-3, clock_khz * 1e-6);
  CHECK(cudaDeviceGetAttribute(&memory_clock_khz, cudaDevAttrMemoryClockRate, device));
  printf("  Memory Clock rate:                             %.0f Mhz\n", memory_clock_khz * 1e-3);
  printf("  Memory Bus Width:                              %d-bit\n", prop.memoryBusWidth);
  if (prop.l2CacheSize) {
    printf("  L2 Cache Size:                                 %d bytes\n", prop.l2CacheSize);
  }
  printf("  Maximum Texture Dimension Size (x,y,z)         1D=(%d), 2D=(%d, %d), 3D=(%d, %d, %d)\n",
         prop.maxTexture1D, prop.maxTexture2D[0], prop.maxTexture2D[1], prop.maxTexture3D[0],
         prop.maxTexture3D[1], prop.maxTexture3D[2]);
  printf("  Total amount of constant memory:               %zu bytes\n", prop.totalConstMem);
  printf("  Total amount of shared memory per block:       %zu bytes\n", prop.sharedMemPerBlock);
  printf("  Total shared memory per multiprocessor:        %zu bytes\n",
         prop.sharedMemPerMultiprocessor);
  printf("  Total number of registers available per block: %d\n", prop.regsPerBlock);
  printf("  Warp size:                                     %d\n", prop.warpSize);
  printf("  Maximum number of threads per multiprocessor:  %d\n", prop.maxThreadsPerMultiProcessor);
  printf("  Maximum number of threads per block:           %d\n", prop.maxThreadsPerBlock);
  printf("  Maximum memory pitch:                          %zu bytes\n", prop.memPitch);
  printf("  Concurrent copy and kernel execution:          with %d copy engine(s)\n",
         prop.asyncEngineCount);
  printf("  Integrated GPU sharing Host Memory:            %s\n", yes_no(prop.integrated));
  printf("  Support host page-locked memory mapping:       %s\n", yes_no(prop.canMapHostMemory));
  printf("  Device supports Unified Addressing (UVA):      %s\n", yes_no(prop.unifiedAddressing));
  printf("  Device supports Managed Memory:                %s\n", yes_no(prop.managedMemory));
  printf("  Device supports Compute Preemption:            %s\n",
         yes_no(prop.computePreemptionSupported));
  printf("  Supports Cooperative Kernel Launch:            %s\n", yes_no(prop.cooperativeLaunch));
  printf("  Device PCI Domain ID / Bus ID / location ID:   %d / %d / %d\n", prop.pciDomainID,
         prop.pciBusID, prop.pciDeviceID);
}

static void show_peers(int count) {
  struct cudaDeviceProp prop[64];
  for (int i = 0; i < count; i++) CHECK(cudaGetDeviceProperties(&prop[i], i));
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) {
      int can;
      if (i == j) continue;
      CHECK(cudaDeviceCanAccessPeer(&can, i, j));
      printf("> Peer access from %s (GPU%d) -> %s (GPU%d) : %s\n", prop[i].name, i, prop[j].name, j,
             yes_no(can));
    }
  }
}

int main(void) {
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    printf("cudaGetDeviceCount returned %d\n-> %s\n", (int)status, cudaGetErrorString(status));
    printf("Result = FAIL\n");
    return EXIT_FAILURE;
  }
  printf("Detected %d CUDA Capable device(s)\n", count);
  for (int device = 0; device < count; device++) show_device(device, &driver, &runtime);
  if (count >= 2) show_peers(count);
  printf("\ndeviceQuery, CUDA Driver = CUDART, CUDA Driver Version = %d.%d, CUDA Runtime Version = %d.%d, NumDevs = %d\n",
         driver / 1000, (driver % 100) / 10, runtime / 1000, (runtime % 100) / 10, count);
  printf("Result = PASS\n");
  return EXIT_SUCCESS;
}

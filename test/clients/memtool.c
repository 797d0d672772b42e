/* A client that does not use umaprobe: plain C, NVIDIA's own header, linked with -lcudart.
 *
 *   memtool                 prints the devices and the free memory
 *   memtool alloc GIB [managed|host] [hold SECONDS]
 *                           allocates, fills, reads back, and frees
 *   memtool eat GIB         calls cudaMalloc of 1 GiB repeatedly, GIB times
 *
 * cc -I/usr/local/cuda/include memtool.c -L/usr/local/cuda/lib64 -lcudart -o memtool */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(call)                                                                      \
  do {                                                                                   \
    const cudaError_t status = (call);                                                   \
    if (status != cudaSuccess) {                                                         \
      fprintf(stderr, "%s: %s (%d): %s\n", #call, cudaGetErrorName(status), (int)status, \
              cudaGetErrorString(status));                                               \
      return 1;                                                                          \
    }                                                                                    \
  } while (0)

static const double kGiB = 1024.0 * 1024 * 1024;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int print_memory(const char* when) {
  size_t free_bytes, total;
  CHECK(cudaMemGetInfo(&free_bytes, &total));
  printf("%s: free %zu total %zu (%.2f of %.2f GiB)\n", when, free_bytes, total,
         (double)free_bytes / kGiB, (double)total / kGiB);
  return 0;
}

static int show(void) {
  int count, runtime, driver, value;
  struct cudaDeviceProp prop;
  char bus[32];
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaGetDeviceCount(&count));
  printf("devices %d runtime %d driver %d\n", count, runtime, driver);
  for (int device = 0; device < count; device++) {
    CHECK(cudaGetDeviceProperties(&prop, device));
    CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, device));
    printf("%d: %s %d.%d %s SMs %d L2 %d bus %d-bit\n", device, prop.name, prop.major, prop.minor,
           bus, prop.multiProcessorCount, prop.l2CacheSize, prop.memoryBusWidth);
    printf(
        "   totalGlobalMem %zu integrated %d managed %d concurrent %d pageable %d hostTables %d "
        "register %d\n",
        prop.totalGlobalMem, prop.integrated, prop.managedMemory, prop.concurrentManagedAccess,
        prop.pageableMemoryAccess, prop.pageableMemoryAccessUsesHostPageTables,
        prop.hostRegisterSupported);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, device));
    printf("   memory clock %d kHz, grid %d %d %d, warp %d\n", value, prop.maxGridSize[0],
           prop.maxGridSize[1], prop.maxGridSize[2], prop.warpSize);
  }
  return print_memory("memory");
}

static int allocate(double gib, const char* kind, double hold_s) {
  const size_t bytes = (size_t)(gib * kGiB);
  const size_t places[] = {0, bytes / 3, bytes / 2 + 1, bytes - 1};
  const int pattern = 0xA5;
  void* memory = NULL;
  cudaEvent_t begin, end;
  float device_ms;
  double begun, made;
  CHECK(cudaFree(0));
  if (print_memory("before") != 0) return 1;
  begun = now_ms();
  if (strcmp(kind, "managed") == 0) {
    CHECK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
  } else if (strcmp(kind, "host") == 0) {
    CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
  } else {
    CHECK(cudaMalloc(&memory, bytes));
  }
  made = now_ms() - begun;
  if (print_memory("allocated") != 0) return 1;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin, NULL));
  CHECK(cudaMemset(memory, pattern, bytes));
  CHECK(cudaEventRecord(end, NULL));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaEventElapsedTime(&device_ms, begin, end));
  if (print_memory("filled") != 0) return 1;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    unsigned char back = 0;
    CHECK(cudaMemcpy(&back, (char*)memory + places[i], 1, cudaMemcpyDeviceToHost));
    if (back != pattern) {
      fprintf(stderr, "byte %zu is %#x, expected %#x\n", places[i], back, pattern);
      return 1;
    }
  }
  printf("%.2f GiB of %s memory in %.1f ms, filled in %.1f ms of the device, verified\n", gib, kind,
         made, device_ms);
  fflush(stdout);
  usleep((useconds_t)(hold_s * 1e6));
  CHECK(strcmp(kind, "host") == 0 ? cudaFreeHost(memory) : cudaFree(memory));
  return print_memory("freed");
}

static int eat(int gib) {
  for (int i = 1; i <= gib; i++) {
    void* memory;
    CHECK(cudaMalloc(&memory, (size_t)kGiB));
    printf("%d GiB\n", i);
    fflush(stdout);
  }
  return print_memory("eaten");
}

int main(int argc, char** argv) {
  if (argc >= 3 && strcmp(argv[1], "alloc") == 0) {
    const char* kind = argc >= 4 && strcmp(argv[3], "hold") != 0 ? argv[3] : "device";
    const double hold_s =
        argc >= 5 && strcmp(argv[argc - 2], "hold") == 0 ? atof(argv[argc - 1]) : 0;
    return allocate(atof(argv[2]), kind, hold_s);
  }
  if (argc >= 3 && strcmp(argv[1], "eat") == 0) return eat(atoi(argv[2]));
  return show();
}

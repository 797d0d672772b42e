/* The calls that PyTorch makes of CUDA and NVML up to its first tensor, in its order: c10's device
 * functions, the caching allocator (a stream that may be captured, the mode of capture changed
 * around cudaMalloc), the driver and NVML looked up at run time as c10's DriverAPI does, the first
 * fill and copy, and the emptying of the cache. A line for each call: its name and status, and what
 * it answered. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef void* Stream;
typedef void* Event;

int cudaGetDeviceCount(int* count);
int cudaDriverGetVersion(int* version);
int cudaRuntimeGetVersion(int* version);
int cudaGetDevice(int* device);
int cudaSetDevice(int device);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaDeviceGetPCIBusId(char* id, int size, int device);
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
int cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority);
int cudaStreamIsCapturing(Stream stream, int* status);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaMalloc(void** pointer, size_t size);
int cudaMemGetInfo(size_t* free, size_t* total);
int cudaMemsetAsync(void* pointer, int value, size_t size, Stream stream);
int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, Stream stream);
int cudaStreamSynchronize(Stream stream);
int cudaEventCreateWithFlags(Event* event, unsigned flags);
int cudaEventRecord(Event event, Stream stream);
int cudaEventQuery(Event event);
int cudaEventDestroy(Event event);
int cudaFree(void* pointer);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                            int* found);

#define SAY(call) printf("%s %d\n", #call, (call))

static void allocate(void** pointer, size_t size) {
  int capturing = -1;
  int mode = 2; /* cudaStreamCaptureModeRelaxed */
  SAY(cudaStreamIsCapturing(NULL, &capturing));
  printf("capturing %d\n", capturing);
  SAY(cudaThreadExchangeStreamCaptureMode(&mode));
  printf("mode before %d\n", mode);
  SAY(cudaMalloc(pointer, size));
  SAY(cudaThreadExchangeStreamCaptureMode(&mode));
  printf("mode restored %d\n", mode);
}

static void driver(void) {
  int (*state)(int, unsigned*, int*) = NULL;
  int (*exchange)(int*) = NULL;
  int (*capturing)(Stream, int*) = NULL;
  int active = -1, mode = 1, status = -1;
  unsigned flags = 9;
  SAY(cudaGetDriverEntryPoint("cuDevicePrimaryCtxGetState", (void**)&state, 0, NULL));
  SAY(state(0, &flags, &active));
  printf("active %d\n", active);
  SAY(cudaGetDriverEntryPoint("cuThreadExchangeStreamCaptureMode", (void**)&exchange, 0, NULL));
  SAY(exchange(&mode));
  SAY(cudaGetDriverEntryPoint("cuStreamIsCapturing", (void**)&capturing, 0, NULL));
  SAY(capturing(NULL, &status));
  mode = 3;
  SAY(exchange(&mode));
}

static void nvml(const char* bus_id) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  int (*init)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
  int (*find)(const char*, void**) =
      (int (*)(const char*, void**))dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
  int (*link)(void*, unsigned, int*) =
      (int (*)(void*, unsigned, int*))dlsym(library, "nvmlDeviceGetNvLinkRemoteDeviceType");
  /* What Slurm looks up and calls (slurmd -G). */
  int (*affinity)(void*, unsigned, unsigned long*) =
      (int (*)(void*, unsigned, unsigned long*))dlsym(library, "nvmlDeviceGetCpuAffinity");
  void* device = NULL;
  int type = 0;
  unsigned long processors = 0;
  SAY(init());
  SAY(find(bus_id, &device));
  SAY(link(device, 0, &type));
  SAY(affinity(device, 1, &processors));
}

int main(void) {
  int count = 0, version = 0, device = -1, least = 1, greatest = 1, integrated = -1;
  char bus_id[32] = "";
  void* small = NULL;
  void* large = NULL;
  Stream stream = NULL;
  Event event = NULL;
  size_t free_before = 0, free_after = 0, total = 0;
  float from[4] = {1, 2, 3, 4}, back[4] = {0};
  SAY(cudaGetDeviceCount(&count));
  SAY(cudaDriverGetVersion(&version));
  SAY(cudaRuntimeGetVersion(&version));
  SAY(cudaGetDevice(&device));
  SAY(cudaSetDevice(0));
  SAY(cudaDeviceGetAttribute(&integrated, 18, 0));
  SAY(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0));
  SAY(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SAY(cudaMemGetInfo(&free_before, &total));
  allocate(&small, 2 << 20);
  allocate(&large, 20 << 20);
  SAY(cudaMemGetInfo(&free_after, &total));
  printf("taken %zu MiB\n", (free_before - free_after) >> 20);
  SAY(cudaMemsetAsync(small, 0, 512, NULL));
  SAY(cudaMemcpyAsync(small, from, sizeof from, 1, NULL));
  SAY(cudaMemcpyAsync(back, small, sizeof back, 2, NULL));
  SAY(cudaStreamSynchronize(NULL));
  printf("back %d\n", memcmp(from, back, sizeof back) == 0);
  SAY(cudaStreamCreateWithPriority(&stream, 1, greatest));
  SAY(cudaEventCreateWithFlags(&event, 2));
  SAY(cudaEventRecord(event, stream));
  SAY(cudaStreamSynchronize(stream));
  SAY(cudaEventQuery(event));
  SAY(cudaEventDestroy(event));
  driver();
  nvml(bus_id);
  SAY(cudaFree(small));
  SAY(cudaFree(large));
  SAY(cudaPeekAtLastError());
  SAY(cudaGetLastError());
  return 0;
}

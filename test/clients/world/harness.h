// A scenario is a function that runs in a child process on a machine of its own, and fails by
// EXPECT. Scenarios use only exported functions of libumasim, as any program does.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "abi/cuda.h"
#include "abi/nvml.h"
#include "abi/umasim.h"

extern "C" {
int cudaMemGetInfo(size_t*, size_t*);
int cudaMalloc(void**, size_t);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaHostAlloc(void**, size_t, unsigned);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaHostRegister(void*, size_t, unsigned);
int cudaMemset(void*, int, size_t);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaGetDeviceCount(int*);
int cudaDeviceReset();
int cudaDeviceSynchronize();
int cudaGetLastError();
int cudaPeekAtLastError();
int cudaSetDevice(int);
int cudaGetDevice(int*);
int cudaDeviceGetAttribute(int*, int, int);
int cudaDeviceGetByPCIBusId(int*, const char*);
int cuInit(unsigned);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, CUdevice);
int cuDeviceGetUuid_v2(CUuuid*, CUdevice);
int cuDevicePrimaryCtxGetState(CUdevice, unsigned*, int*);
int cuDevicePrimaryCtxRetain(CUcontext*, CUdevice);
int cuDevicePrimaryCtxRelease_v2(CUdevice);
int cuCtxSetCurrent(CUcontext);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemsetD32_v2(CUdeviceptr, unsigned, size_t);
int cuGetProcAddress(const char*, void**, int, uint64_t);
int cuGetProcAddress_v2(const char*, void**, int, uint64_t, int*);
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, nvmlDevice_t*);
int nvmlDeviceGetMemoryInfo(nvmlDevice_t, nvmlMemory_t*);
int nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t, nvmlMemory_v2_t*);
int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*);
int nvmlDeviceGetHandleByUUID(const char*, nvmlDevice_t*);
int nvmlDeviceGetTemperature(nvmlDevice_t, unsigned, unsigned*);
}

namespace world {

constexpr uint64_t kGiB = 1ull << 30;

#define EXPECT(condition, ...)                                                    \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::fprintf(stderr, "%s:%d: not so: %s.", __FILE__, __LINE__, #condition); \
      std::fprintf(stderr, " " __VA_ARGS__);                                      \
      std::fprintf(stderr, "\n");                                                 \
      _exit(1);                                                                   \
    }                                                                             \
  } while (0)

// Boots the machine `name` (its file is in FOLDER, see main.cc) and moves this process to it. The
// lines of `more` replace the file's. Time passes `scale` times as fast.
void boot(const char* name, double scale, const std::string& more = "");
// The message with which the machine is refused; empty if it boots.
std::string boot_error(const char* name, const std::string& more);
const std::string& state_path();
// Lines for boot(): the machine has `count` copies of its first device, of which only the last
// digits of UUID and PCI bus differ: GPU-5117ab1e-0000-0000-0000-00000000000N on bus 0N, N from 1.
std::string devices(const char* name, int count);

std::string read(const char* path);
// A line of /proc/meminfo in bytes (HugePages_ lines: in pages), and a line of /proc/vmstat.
uint64_t meminfo(const char* line);
uint64_t vmstat(const char* line);
double pressure_full10();
// Since the start; unlike an average it does not fall.
double pressure_full_ms();
// Waits at most 20 s until tasks have waited this long: an allocation that ran late returns before
// its stall has passed.
bool full_pressure_reaches(double ms);
std::string record();
// The number after "name": in the record.
double recorded(const char* name);
bool wedged();

size_t cuda_free();
void* allocate(uint64_t bytes);
void wait_ms(double real_ms);

// Forks a process that runs `body` and then exits with 0. Returns its pid.
int start(const std::function<void()>& body);
// Waits for the process at most `real_ms` real milliseconds. Returns its exit status, 1000 +
// signal, or -1 if it still runs.
int wait_for(int pid, double real_ms);
void kill_and_wait(int pid);

using Scenario = void (*)();
struct Row {
  const char* name;
  Scenario run;
};
// One list per file.
extern const Row kHostScenarios[], kMemoryScenarios[], kProcessScenarios[], kLibraryScenarios[],
    kKernelScenarios[], kCounterScenarios[], kTimelineScenarios[], kDeviceScenarios[],
    kEventScenarios[], kNvmlScenarios[];

}  // namespace world

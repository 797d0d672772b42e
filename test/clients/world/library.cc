// Scenarios: the answers of the libraries, and faults.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "harness.h"

namespace world {
namespace {

double now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

nvmlDevice_t device() {
  nvmlDevice_t handle = nullptr;
  EXPECT(nvmlInit_v2() == 0 && nvmlDeviceGetHandleByIndex_v2(0, &handle) == 0);
  return handle;
}

void nvml_memory() {
  boot("gb10", 100);
  nvmlMemory_t memory{};
  EXPECT(nvmlDeviceGetMemoryInfo(nullptr, &memory) == umaprobe::kNvmlUninitialized);
  EXPECT(nvmlDeviceGetMemoryInfo(device(), &memory) == umaprobe::kNvmlNotSupported);
  EXPECT(memory.total == 0);
  boot("gb10-nvml-success", 100);
  EXPECT(nvmlDeviceGetMemoryInfo(device(), &memory) == 0);
  EXPECT(memory.total == meminfo("MemTotal") && memory.free == meminfo("MemFree"));
  boot("h200", 100);
  nvmlMemory_v2_t two{};
  two.version = 2;  // nvtop makes this mistake
  EXPECT(nvmlDeviceGetMemoryInfo_v2(device(), &two) == umaprobe::kNvmlArgumentVersionMismatch);
  two.version = umaprobe::kNvmlMemoryV2;
  EXPECT(nvmlDeviceGetMemoryInfo_v2(device(), &two) == 0);
  EXPECT(two.total == 143771ull << 20 && two.reserved == 644939776 && two.used == 0);
  EXPECT(two.total == two.free + two.used + two.reserved);
}

void nvml_processes() {
  boot("gb10-busy", 100);
  unsigned count = 0;
  const nvmlDevice_t gpu = device();
  EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, nullptr) ==
         umaprobe::kNvmlInsufficientSize);
  EXPECT(count == 1);
  allocate(2 * kGiB);
  void* managed;
  EXPECT(cudaMallocManaged(&managed, kGiB, 1) == 0 && cudaMemset(managed, 1, kGiB) == 0);
  nvmlProcessInfo_t list[4];
  count = 4;
  EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(gpu, &count, list) == 0 && count == 2);
  for (unsigned i = 0; i < count; i++) {
    const bool self = list[i].pid == static_cast<unsigned>(getpid());
    EXPECT(self || list[i].pid == 4200017);
    // cudaMalloc and the context count; managed memory does not (docs/simulated-machine.md [3]).
    EXPECT(list[i].usedGpuMemory == (self ? 2 * kGiB + (256ull << 20) : 70 * kGiB));
  }
}

void no_driver() {
  boot("no-driver", 1);
  int count = -1;
  EXPECT(cudaGetDeviceCount(&count) == umaprobe::kCudaInsufficientDriver && count == -1);
  EXPECT(cuInit(0) == umaprobe::kCudaStubLibrary);
  EXPECT(nvmlInit_v2() == umaprobe::kNvmlLibraryNotFound);
  EXPECT(umasim_has_library("cuda") == 0 && umasim_has_library("nvml") == 0);
  EXPECT(umasim_has_library("opencl") == -EINVAL);
  char buffer[64];
  EXPECT(umasim_read("/proc/driver/nvidia/version", buffer, sizeof buffer) == -ENOENT);
  unsetenv("UMAPROBE_SIM");
  EXPECT(umasim_machine() == nullptr && umasim_read("/proc/meminfo", buffer, 64) == -ENXIO);
  EXPECT(nvmlInit_v2() == umaprobe::kNvmlDriverNotLoaded);
  EXPECT(cuInit(0) == umaprobe::kCudaNoDevice);
  boot("gb10", 1, "faults.missingSymbols.0 cuMemGetInfo_v2\n");
  EXPECT(umasim_has_symbol("cuMemGetInfo_v2") == 0 && umasim_has_symbol("cuInit") == 1);
  void* function;
  int found;
  // Not found is an answer, as cuda.h says; for the function of CUDA 11, which has no place for it,
  // an error.
  EXPECT(cuGetProcAddress_v2("cuMemGetInfo", &function, 13000, 0, &found) == 0);
  EXPECT(function == nullptr && found == 1);
  EXPECT(cuGetProcAddress("cuMemGetInfo", &function, 13000, 0) == umaprobe::kCudaNotFound);
  EXPECT(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, nullptr) == 0 &&
         function == nullptr);
  EXPECT(cuGetProcAddress_v2("cudaMalloc", &function, 13000, 0, &found) == 0 && found == 1);
  EXPECT(cuGetProcAddress_v2("cuInit", &function, 13010, 0, &found) == 1);  // newer than the driver
  EXPECT(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &found) == 0 && found == 0);
}

void faults() {
  boot("gb10", 100,
       "faults.fail.0.call cudaMemGetInfo\nfaults.fail.0.status 46\nfaults.fail.0.after 1\n"
       "faults.fail.0.times 2\nfaults.hang.0.call nvmlDeviceGet*\nfaults.hang.0.ms 100000\n"
       "faults.hang.0.after 1\nfaults.hang.0.times 1\n");
  size_t free_bytes, total;
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == 0);
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == umaprobe::kCudaDevicesUnavailable);
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == umaprobe::kCudaDevicesUnavailable);
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == 0);
  unsigned value;
  const double begun = now_ms();
  const nvmlDevice_t gpu = device();
  EXPECT(now_ms() - begun < 500);
  EXPECT(nvmlDeviceGetTemperature(gpu, 0, &value) == 0 && value == 40);
  EXPECT(now_ms() - begun >= 1000);  // 100 s of simulated time
}

void time_is_scaled() {
  boot("gb10", 10);
  cuda_free();
  // The least of several: this computer may be busy.
  double ms = 160;
  for (int i = 0; i < 50 && ms >= 160; i++) {
    const double begun = now_ms();
    void* const memory = allocate(20 * kGiB);
    ms = std::min(ms, now_ms() - begun);
    EXPECT(cudaFree(memory) == 0);
  }
  EXPECT(ms > 70 && ms < 160, "20 GiB in %.0f ms at ten times the speed", ms);
}

void primary_context() {
  boot("gb10", 1000);
  unsigned flags;
  int active;
  size_t free_bytes, total;
  EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active) == umaprobe::kCudaNotInitialized);
  EXPECT(cuInit(0) == 0 && cuMemGetInfo_v2(&free_bytes, &total) == umaprobe::kCudaInvalidContext);
  EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active) == 0 && active == 0);
  const uint64_t before = meminfo("MemFree");
  CUcontext context;
  EXPECT(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0);
  EXPECT(before - meminfo("MemFree") == 256ull << 20);
  EXPECT(cuDevicePrimaryCtxGetState(0, &flags, &active) == 0 && active == 1);
  EXPECT(cuMemGetInfo_v2(&free_bytes, &total) == 0 && free_bytes == meminfo("MemFree"));
  EXPECT(cuDevicePrimaryCtxRelease_v2(0) == 0 && meminfo("MemFree") == before);
  EXPECT(cuMemGetInfo_v2(&free_bytes, &total) == umaprobe::kCudaInvalidContext);
}

void wrong_files() {
  char error[256] = "";
  EXPECT(umasim_boot("schema umaprobe/machine/2\n", "/tmp/never", error, sizeof error) == -EINVAL);
  EXPECT(std::strstr(error, "schema is \"umaprobe/machine/2\"") != nullptr, "%s", error);
  boot("gb10", 1);
  EXPECT(umasim_boot("", state_path().c_str(), error, sizeof error) == -EINVAL);
  const std::string other = state_path() + ".other";
  const std::string texts[] = {"", "short", std::string(8 << 20, 'x')};
  for (const std::string& text : texts) {
    std::ofstream(other, std::ios::trunc) << text;
    setenv("UMAPROBE_SIM", other.c_str(), 1);
    EXPECT(umasim_machine() == nullptr);
    char buffer[64];
    EXPECT(umasim_read("/proc/meminfo", buffer, sizeof buffer) == -EINVAL);
    EXPECT(umasim_record(other.c_str(), buffer, sizeof buffer) == -EINVAL);
    EXPECT(nvmlInit_v2() != 0);
  }
}

}  // namespace

const Row kLibraryScenarios[] = {
    {"library.nvml_memory", nvml_memory},       {"library.nvml_processes", nvml_processes},
    {"library.no_driver", no_driver},           {"library.faults", faults},
    {"library.time_is_scaled", time_is_scaled}, {"library.primary_context", primary_context},
    {"library.wrong_files", wrong_files},       {nullptr, nullptr}};

}  // namespace world

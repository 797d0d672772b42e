// Scenarios: machines with several devices, of which one fails or is lost.
#include <cstring>

#include "harness.h"

namespace world {
namespace {

constexpr int kL2CacheSize = 38;

nvmlDevice_t handle(unsigned index) {
  nvmlDevice_t device = nullptr;
  EXPECT(nvmlDeviceGetHandleByIndex_v2(index, &device) == 0);
  return device;
}

// The status of cudaMemGetInfo on a device, as in a program that selects it.
int memory_of(int ordinal) {
  size_t free_bytes, total;
  const int status = cudaSetDevice(ordinal);
  return status != 0 ? status : cudaMemGetInfo(&free_bytes, &total);
}

void faults_of_one() {
  boot("h200", 100,
       devices("h200", 3) +
           "faults.fail.0.call nvmlDeviceGetTemperature\nfaults.fail.0.status 3\n"
           "faults.fail.0.device 1\nfaults.fail.0.after 1\n"
           "faults.fail.1.call nvmlDeviceGetHandleByIndex_v2\nfaults.fail.1.status 4\n"
           "faults.fail.1.device 2\n"
           "faults.fail.2.call cudaMemGetInfo\nfaults.fail.2.status 46\nfaults.fail.2.device 1\n"
           "faults.fail.3.call cudaDeviceGetAttribute\nfaults.fail.3.status 1\n"
           "faults.fail.3.device 2\n");
  EXPECT(nvmlInit_v2() == 0);
  const nvmlDevice_t first = handle(0), second = handle(1);
  nvmlDevice_t third;
  EXPECT(nvmlDeviceGetHandleByIndex_v2(2, &third) == umaprobe::kNvmlNoPermission);
  unsigned celsius;
  for (int i = 0; i < 3; i++) {
    EXPECT(nvmlDeviceGetTemperature(first, 0, &celsius) == 0);
    // Only calls for the device count towards `after`.
    const int expected = i == 0 ? 0 : umaprobe::kNvmlNotSupported;
    EXPECT(nvmlDeviceGetTemperature(second, 0, &celsius) == expected, "call %d", i);
  }
  EXPECT(memory_of(0) == 0 && memory_of(2) == 0);
  EXPECT(memory_of(1) == umaprobe::kCudaDevicesUnavailable);
  int value;
  EXPECT(cudaDeviceGetAttribute(&value, kL2CacheSize, 1) == 0);
  EXPECT(cudaDeviceGetAttribute(&value, kL2CacheSize, 2) == umaprobe::kCudaInvalidValue);
}

void fault_of_context_creation() {
  boot("h200", 100,
       devices("h200", 2) +
           "faults.fail.0.call cudaFree\nfaults.fail.0.status 2\nfaults.fail.0.device 0\n");
  EXPECT(cudaFree(nullptr) == umaprobe::kCudaOutOfMemory);
  // The call failed before it made a context.
  EXPECT(recorded("contexts") == 0);
  EXPECT(cudaSetDevice(1) == 0 && cudaFree(nullptr) == 0);
}

// The lines of an event by which device 1 is lost.
std::string loss(const char* at_ms, const char* more = "") {
  return std::string("events.0.what lost\nevents.0.device 1\nevents.0.atMs ") + at_ms + "\n" + more;
}

void lost_while_in_use() {
  boot("h200", 100, devices("h200", 2) + loss("5000"));
  EXPECT(nvmlInit_v2() == 0);
  const nvmlDevice_t first = handle(0), second = handle(1);
  unsigned celsius, count;
  EXPECT(memory_of(0) == 0 && memory_of(1) == 0);
  EXPECT(nvmlDeviceGetTemperature(second, 0, &celsius) == 0);
  wait_ms(60);
  nvmlDevice_t found;
  EXPECT(nvmlDeviceGetTemperature(second, 0, &celsius) == umaprobe::kNvmlGpuIsLost);
  EXPECT(nvmlDeviceGetHandleByIndex_v2(1, &found) == umaprobe::kNvmlGpuIsLost);
  EXPECT(nvmlDeviceGetHandleByUUID("GPU-5117ab1e-0000-0000-0000-000000000002", &found) ==
         umaprobe::kNvmlGpuIsLost);
  EXPECT(nvmlDeviceGetCount_v2(&count) == 0 && count == 2);
  EXPECT(nvmlDeviceGetTemperature(first, 0, &celsius) == 0);
  int value;
  size_t free_bytes, total;
  void* memory;
  EXPECT(cudaMemGetInfo(&free_bytes, &total) == umaprobe::kCudaUnknown);
  EXPECT(cudaMalloc(&memory, kGiB) == umaprobe::kCudaUnknown);
  EXPECT(cudaGetDeviceCount(&value) == 0 && value == 2);
  EXPECT(cudaDeviceGetAttribute(&value, kL2CacheSize, 1) == 0);
  EXPECT(memory_of(0) == 0);
}

void lost_before_cuda_begins() {
  int count;
  boot("h200", 100, devices("h200", 2) + loss("0"));
  EXPECT(cuInit(0) == umaprobe::kCudaUnknown);
  EXPECT(cudaGetDeviceCount(&count) == umaprobe::kCudaUnknown && count == 0);
  EXPECT(memory_of(0) == umaprobe::kCudaUnknown);
  EXPECT(nvmlInit_v2() == 0);
  handle(0);
  boot("h200", 100, devices("h200", 2) + loss("0", "events.0.cuInit NO_DEVICE\n"));
  EXPECT(cuInit(0) == umaprobe::kCudaNoDevice);
  boot("h200", 100, devices("h200", 2) + loss("0", "events.0.cuInit LEFT_OUT\n"));
  EXPECT(cuInit(0) == 0 && cuDeviceGetCount(&count) == 0 && count == 1);
  EXPECT(memory_of(0) == 0 && memory_of(1) == umaprobe::kCudaInvalidDevice);
  boot("h200", 100,
       devices("h200", 2) + "events.0.what lost\nevents.0.device 0\nevents.0.atMs 0\n" +
           "events.0.cuInit LEFT_OUT\n");
  // The other device is ordinal 0 then.
  CUuuid uuid;
  EXPECT(cuInit(0) == 0 && cuDeviceGetUuid_v2(&uuid, 0) == 0 && uuid.bytes[15] == 2);
  int ordinal;
  EXPECT(cudaDeviceGetByPCIBusId(&ordinal, "0000:02:00.0") == 0 && ordinal == 0);
  EXPECT(cudaDeviceGetByPCIBusId(&ordinal, "0000:01:00.0") == umaprobe::kCudaInvalidDevice);
}

}  // namespace

const Row kDeviceScenarios[] = {{"devices.faults_of_one", faults_of_one},
                                {"devices.fault_of_context_creation", fault_of_context_creation},
                                {"devices.lost_while_in_use", lost_while_in_use},
                                {"devices.lost_before_cuda_begins", lost_before_cuda_begins},
                                {nullptr, nullptr}};

}  // namespace world

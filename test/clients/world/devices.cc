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
  boot("h200", 100, devices("h200", 2) + loss("60000"));
  EXPECT(nvmlInit_v2() == 0);
  const nvmlDevice_t first = handle(0), second = handle(1);
  unsigned celsius, count;
  EXPECT(memory_of(0) == 0 && memory_of(1) == 0);
  EXPECT(nvmlDeviceGetTemperature(second, 0, &celsius) == 0);
  nvmlDevice_t found;
  for (int i = 0; i < 5000 && nvmlDeviceGetTemperature(second, 0, &celsius) == 0; i++) wait_ms(1);
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

// The last digits of the UUIDs that a process with these variables sees, as in "21"; "-" if cuInit
// finds no device.
std::string seen(const char* visible, const char* order = "PCI_BUS_ID") {
  if (visible == nullptr) unsetenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  setenv("CUDA_DEVICE_ORDER", order, 1);
  int ends[2];
  EXPECT(pipe(ends) == 0);
  const int pid = start([&] {
    int count = 0;
    std::string digits;
    const int status = cuInit(0);
    if (status == umaprobe::kCudaNoDevice) digits = "-";
    if (status == 0) EXPECT(cuDeviceGetCount(&count) == 0);
    for (int ordinal = 0; ordinal < count; ordinal++) {
      CUuuid uuid;
      EXPECT(cuDeviceGetUuid_v2(&uuid, ordinal) == 0);
      digits += static_cast<char>('0' + uuid.bytes[15]);
    }
    EXPECT(write(ends[1], digits.data(), digits.size()) == static_cast<long>(digits.size()));
  });
  EXPECT(wait_for(pid, 5000) == 0, "CUDA_VISIBLE_DEVICES=%s", visible);
  char text[16];
  const long length = ::read(ends[0], text, sizeof text);
  EXPECT(length > 0);
  close(ends[0]);
  close(ends[1]);
  return {text, static_cast<size_t>(length)};
}

void visible_devices() {
  const std::string third = "devices.2.uuid GPU-8932f937-d72c-4106-c12f-20bd9faed903\n";
  boot("h200", 100, devices("h200", 4) + third);
  struct Case {
    const char *variable, *seen;
  };
  const Case cases[] = {
      {nullptr, "1234"},
      {"2,1", "32"},
      {"0,2,-1,1", "13"},  // the example of NVIDIA's programming guide
      {"0,4,1", "1"},
      {"", "-"},
      {"-1", "-"},
      {"none", "-"},
      {"1,", "2"},
      {" 1 , 3", "24"},
      {"1x", "2"},
      {"1,0,1", "-"},
      {"0,-1,0", "1"},
      {"GPU-8932f937", "3"},
      {"GPU-8932f937-d72c-4106-c12f-20bd9faed903,0", "31"},
      {"GPU-5117ab1e", "-"},  // three devices begin so
      {"GPU-5117ab1e-0000-0000-0000-000000000004,GPU-0", "4"},
      {"GPU-8932f937,2", "-"},
      {"99999999999999999999", "-"},
  };
  for (const Case& one : cases) {
    const std::string found = seen(one.variable);
    EXPECT(found == one.seen, "%s: %s", one.variable, found.c_str());
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  // The order of the devices, to which the numbers refer.
  boot("h200", 100, devices("h200", 3) + "devices.0.attributes.multiProcessorCount 48\n");
  EXPECT(seen(nullptr) == "123" && seen(nullptr, "FASTEST_FIRST") == "231");
  EXPECT(seen("0", "") == "2");
}

void visible_devices_are_read_once() {
  boot("h200", 100, devices("h200", 3));
  setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  int count, ordinal;
  EXPECT(cudaGetDeviceCount(&count) == 0 && count == 2);
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT(cuInit(0) == 0 && cuDeviceGetCount(&count) == 0 && count == 2);
  EXPECT(cudaGetDevice(&ordinal) == 0 && ordinal == 0);
  // Memory is on the device of the ordinal, and NVML does not know the variable.
  allocate(kGiB);
  unsigned devices_of_nvml, processes = 4;
  nvmlProcessInfo_t infos[4];
  EXPECT(nvmlInit_v2() == 0 && nvmlDeviceGetCount_v2(&devices_of_nvml) == 0);
  EXPECT(devices_of_nvml == 3);
  EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(handle(0), &processes, infos) == 0);
  EXPECT(processes == 0);
  processes = 4;
  EXPECT(nvmlDeviceGetComputeRunningProcesses_v3(handle(2), &processes, infos) == 0);
  EXPECT(processes == 1 && infos[0].usedGpuMemory > kGiB);
  EXPECT(cudaSetDevice(1) == 0 && cudaGetDevice(&ordinal) == 0 && ordinal == 1);
  EXPECT(cudaSetDevice(2) == umaprobe::kCudaInvalidDevice);
}

void hidden_lost_device() {
  // A process that does not see the lost device begins as ever (inferred).
  boot("h200", 100, devices("h200", 2) + loss("0"));
  EXPECT(seen("0") == "1");
  boot("h200", 100, devices("h200", 2) + loss("0", "events.0.cuInit NO_DEVICE\n"));
  EXPECT(seen("0") == "1" && seen("1") == "-");
}

}  // namespace

const Row kDeviceScenarios[] = {
    {"devices.faults_of_one", faults_of_one},
    {"devices.fault_of_context_creation", fault_of_context_creation},
    {"devices.lost_while_in_use", lost_while_in_use},
    {"devices.lost_before_cuda_begins", lost_before_cuda_begins},
    {"devices.visible_devices", visible_devices},
    {"devices.visible_devices_are_read_once", visible_devices_are_read_once},
    {"devices.hidden_lost_device", hidden_lost_device},
    {nullptr, nullptr}};

}  // namespace world

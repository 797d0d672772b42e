// Scenarios: NVML as older and newer programs ask it. The buffers are as large as the struct of the
// version that is asked, so that the address sanitizer sees a byte too many.
#include <unistd.h>

#include <cstring>
#include <memory>

#include "harness.h"

extern "C" {
int nvmlInit();
int nvmlDeviceGetHandleByIndex(unsigned, nvmlDevice_t*);
int nvmlDeviceGetPciInfo(nvmlDevice_t, nvmlPciInfo_t*);
int nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t, unsigned*, nvmlProcessInfo_v1_t*);
int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t, unsigned*);
int nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t, unsigned*, unsigned*);
int nvmlDeviceGetSerial(nvmlDevice_t, char*, unsigned);
int nvmlDeviceGetFieldValues(nvmlDevice_t, int, nvmlFieldValue_t*);
int nvmlDeviceGetProcessUtilization(nvmlDevice_t, nvmlProcessUtilizationSample_t*, unsigned*,
                                    unsigned long long);
}

namespace world {
namespace {

nvmlDevice_t device() {
  nvmlDevice_t handle = nullptr;
  EXPECT(nvmlInit() == 0 && nvmlDeviceGetHandleByIndex(0, &handle) == 0);
  EXPECT(nvmlDeviceGetHandleByIndex(1, &handle) == umaprobe::kNvmlInvalidArgument);
  return handle;
}

void first_versions() {
  boot("gb10-busy", 100);
  const nvmlDevice_t gpu = device();
  constexpr size_t kPciInfoV1 = offsetof(nvmlPciInfo_t, busId);
  const auto bytes = std::make_unique<char[]>(kPciInfoV1);
  EXPECT(nvmlDeviceGetPciInfo(gpu, reinterpret_cast<nvmlPciInfo_t*>(bytes.get())) == 0);
  EXPECT(std::strcmp(bytes.get(), "000F:01:00.0") == 0);

  allocate(2 * kGiB);
  unsigned count = 0;
  EXPECT(nvmlDeviceGetComputeRunningProcesses(gpu, &count, nullptr) ==
         umaprobe::kNvmlInsufficientSize);
  const auto list = std::make_unique<nvmlProcessInfo_v1_t[]>(count);
  EXPECT(nvmlDeviceGetComputeRunningProcesses(gpu, &count, list.get()) == 0 && count == 2);
  EXPECT(list[0].pid == static_cast<unsigned>(getpid()) && list[1].pid == 4200017);
  EXPECT(list[0].usedGpuMemory == 2 * kGiB + (256ull << 20) && list[1].usedGpuMemory == 70 * kGiB);
}

void refusals() {
  boot("thor", 100);  // its file has no PCIe link
  unsigned number = 77;
  EXPECT(nvmlDeviceGetCurrPcieLinkWidth(device(), &number) == umaprobe::kNvmlNotSupported);
  EXPECT(number == 77);
  boot("h200", 100, "devices.0.nvml.pcieWidth NO_PERMISSION\ndevices.0.nvml.serial UNKNOWN\n");
  char serial[32];
  EXPECT(nvmlDeviceGetCurrPcieLinkWidth(device(), &number) == umaprobe::kNvmlNoPermission);
  EXPECT(nvmlDeviceGetSerial(device(), serial, sizeof serial) == umaprobe::kNvmlUnknown);
  unsigned least = 0;
  unsigned most = 0;
  EXPECT(nvmlDeviceGetPowerManagementLimitConstraints(device(), &least, nullptr) ==
         umaprobe::kNvmlInvalidArgument);
  EXPECT(nvmlDeviceGetPowerManagementLimitConstraints(device(), &least, &most) == 0);
  EXPECT(least == 200000 && most == 700000);
  EXPECT(boot_error("h200", "devices.0.nvml.serial 12345678901234567890123456789012\n") ==
         "devices.0.nvml.serial is longer than 31 bytes");
}

void fields() {
  boot("h200", 100);
  nvmlFieldValue_t values[2]{};
  EXPECT(nvmlDeviceGetFieldValues(device(), 2, values) == 0);
  EXPECT(values[0].nvmlReturn == umaprobe::kNvmlNotSupported);
  EXPECT(values[1].nvmlReturn == umaprobe::kNvmlNotSupported);
  EXPECT(nvmlDeviceGetFieldValues(device(), 0, values) == umaprobe::kNvmlInvalidArgument);
  unsigned count = 0;
  EXPECT(nvmlDeviceGetProcessUtilization(device(), nullptr, &count, 0) == umaprobe::kNvmlNotFound);
}

}  // namespace

const Row kNvmlScenarios[] = {{"nvml.first_versions", first_versions},
                              {"nvml.refusals", refusals},
                              {"nvml.fields", fields},
                              {nullptr, nullptr}};

}  // namespace world

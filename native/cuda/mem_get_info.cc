#include "cuda/mem_get_info.h"

namespace umaprobe {
namespace {

Fact<FreeAndTotal> info_of_current_device(CallContext& context, const Cudart& runtime) {
  size_t free = 0, total = 0;
  auto failure = call(context, runtime, runtime.cudaMemGetInfo, &free, &total);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

Fact<FreeAndTotal> info_with_driver(CallContext& context, const CudaDriver& driver, int ordinal) {
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  CUcontext previous = nullptr, primary = nullptr;
  auto failure = call(context, driver, driver.cuDeviceGet, &device, ordinal);
  if (!failure)
    failure = call(context, driver, driver.cuDevicePrimaryCtxGetState, device, &flags, &active);
  if (!failure) failure = call(context, driver, driver.cuCtxGetCurrent, &previous);
  if (!failure) failure = call(context, driver, driver.cuDevicePrimaryCtxRetain, &primary, device);
  if (failure) return std::move(*failure);

  size_t free = 0, total = 0;
  failure = call(context, driver, driver.cuCtxSetCurrent, primary);
  if (!failure) failure = call(context, driver, driver.cuMemGetInfo_v2, &free, &total);
  if (auto restoring = call(context, driver, driver.cuCtxSetCurrent, previous);
      restoring && !failure) {
    failure = std::move(restoring);
  }
  // Another owner's context keeps its reference count. A context created here stays, as the
  // runtime's does: creating it takes some 100 ms, and the next call would have to create it again.
  if (active) call(context, driver, driver.cuDevicePrimaryCtxRelease_v2, device);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

}  // namespace

Fact<FreeAndTotal> mem_get_info(CallContext& context, const CudaConnection& cuda, int device,
                                CurrentDevice current_device) {
  if (const Cudart* runtime = cuda.runtime()) {
    int current = 0;
    if (auto failure = call(context, *runtime, runtime->cudaGetDevice, &current))
      return std::move(*failure);
    if (current == device) return info_of_current_device(context, *runtime);
    // Restoring the caller's device would create a context on it: since CUDA 12 cudaSetDevice
    // creates one. The driver can be used without changing the current device.
    if (current_device == CurrentDevice::kMayChange || !cuda.driver()) {
      if (auto failure = call(context, *runtime, runtime->cudaSetDevice, device))
        return std::move(*failure);
      return info_of_current_device(context, *runtime);
    }
  }
  if (const CudaDriver* driver = cuda.driver()) return info_with_driver(context, *driver, device);
  return std::get<Failure>(cuda.device_count());
}

}  // namespace umaprobe

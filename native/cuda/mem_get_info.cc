#include "cuda/mem_get_info.h"

namespace umaprobe {
namespace {

Fact<FreeAndTotal> of_current(CallContext& context, const Cudart& runtime) {
  size_t free = 0, total = 0;
  auto failure = call(context, runtime, runtime.cudaMemGetInfo, &free, &total);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

Fact<FreeAndTotal> over_driver(CallContext& context, const CudaDriver& driver, int ordinal) {
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
  // Somebody else's context is left as it was. One that we created stays, as the runtime's does:
  // creating it takes some 100 ms, and the next call would have to do it again.
  if (active) call(context, driver, driver.cuDevicePrimaryCtxRelease_v2, device);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

}  // namespace

Fact<FreeAndTotal> mem_get_info(CallContext& context, const CudaConnection& cuda, int device,
                                Thread thread) {
  if (const Cudart* runtime = cuda.runtime()) {
    int current = 0;
    if (auto failure = call(context, *runtime, runtime->cudaGetDevice, &current))
      return std::move(*failure);
    if (current == device) return of_current(context, *runtime);
    // Setting a caller's device back would create a context on it: since CUDA 12 cudaSetDevice does
    // that to the device that it names. The driver can be asked without touching the choice.
    if (thread == Thread::kOurs || !cuda.driver()) {
      if (auto failure = call(context, *runtime, runtime->cudaSetDevice, device))
        return std::move(*failure);
      return of_current(context, *runtime);
    }
  }
  if (const CudaDriver* driver = cuda.driver()) return over_driver(context, *driver, device);
  return std::get<Failure>(cuda.device_count());
}

}  // namespace umaprobe

#include "cuda/mem_get_info.h"

namespace umaprobe {
namespace {

Fact<FreeAndTotal> of_current(Flight& flight, const Cudart& runtime) {
  size_t free = 0, total = 0;
  auto failure = ask(flight, runtime, runtime.cudaMemGetInfo, &free, &total);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

Fact<FreeAndTotal> over_driver(Flight& flight, const CudaDriver& driver, int ordinal) {
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  CUcontext before = nullptr, context = nullptr;
  auto failure = ask(flight, driver, driver.cuDeviceGet, &device, ordinal);
  if (!failure)
    failure = ask(flight, driver, driver.cuDevicePrimaryCtxGetState, device, &flags, &active);
  if (!failure) failure = ask(flight, driver, driver.cuCtxGetCurrent, &before);
  if (!failure) failure = ask(flight, driver, driver.cuDevicePrimaryCtxRetain, &context, device);
  if (failure) return std::move(*failure);

  size_t free = 0, total = 0;
  failure = ask(flight, driver, driver.cuCtxSetCurrent, context);
  if (!failure) failure = ask(flight, driver, driver.cuMemGetInfo_v2, &free, &total);
  if (auto restoring = ask(flight, driver, driver.cuCtxSetCurrent, before); restoring && !failure) {
    failure = std::move(restoring);
  }
  // Somebody else's context is left as it was. One that we created stays, as the runtime's does:
  // creating it takes some 100 ms, and the next call would have to do it again.
  if (active) ask(flight, driver, driver.cuDevicePrimaryCtxRelease_v2, device);
  return fact(failure, FreeAndTotal(static_cast<double>(free), static_cast<double>(total)));
}

}  // namespace

Fact<FreeAndTotal> mem_get_info(Flight& flight, const CudaConnection& cuda, int device,
                                Thread thread) {
  if (const Cudart* runtime = cuda.runtime()) {
    int current = 0;
    if (auto failure = ask(flight, *runtime, runtime->cudaGetDevice, &current))
      return std::move(*failure);
    if (current == device) return of_current(flight, *runtime);
    // Setting a caller's device back would create a context on it: since CUDA 12 cudaSetDevice does
    // that to the device that it names. The driver can be asked without touching the choice.
    if (thread == Thread::kOurs || !cuda.driver()) {
      if (auto failure = ask(flight, *runtime, runtime->cudaSetDevice, device))
        return std::move(*failure);
      return of_current(flight, *runtime);
    }
  }
  if (const CudaDriver* driver = cuda.driver()) return over_driver(flight, *driver, device);
  return std::get<Failure>(cuda.device_count());
}

}  // namespace umaprobe

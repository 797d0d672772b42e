#include "memgetinfo.h"

namespace umaprobe {
namespace {

Fact<FreeAndTotal> over_runtime(Flight& flight, const Cudart& runtime, int device, Thread thread) {
  int before = 0;
  if (auto failure = ask(flight, runtime, runtime.cudaGetDevice, &before))
    return std::move(*failure);
  if (before != device) {
    if (auto failure = ask(flight, runtime, runtime.cudaSetDevice, device))
      return std::move(*failure);
  }
  size_t free = 0, total = 0;
  auto failure = ask(flight, runtime, runtime.cudaMemGetInfo, &free, &total);
  if (before != device && thread == Thread::kCallers) {
    if (auto restoring = ask(flight, runtime, runtime.cudaSetDevice, before);
        restoring && !failure) {
      failure = std::move(restoring);
    }
  }
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
  if (const Cudart* runtime = cuda.runtime()) return over_runtime(flight, *runtime, device, thread);
  if (const CudaDriver* driver = cuda.driver()) return over_driver(flight, *driver, device);
  return std::get<Failure>(cuda.device_count());
}

}  // namespace umaprobe

// CUDA runtime: devices and contexts. cudart_versions.cc has what differs between CUDA versions.
#include <cstdio>

#include "sim/abi/cudart.h"
#include "sim/gpu/cuda_attributes.h"
#include "sim/gpu/device_queue.h"

using namespace umasim;

UMASIM_API cudaError_t cudaDriverGetVersion(int* version) noexcept {
  return runtime(__func__, [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = static_cast<int>(call.state().machine.driver.cuda_version);
    return 0;
  });
}

UMASIM_API cudaError_t cudaGetDeviceCount(int* count) noexcept {
  return runtime(__func__, [&](const Call& call) {
    if (count == nullptr) return int{umaprobe::kCudaInvalidValue};
    const int status = init_cuda(call);
    *count = status == 0 ? call.session().visible.count : 0;
    return status;
  });
}

UMASIM_API cudaError_t cudaGetDevice(int* device) noexcept {
  return runtime(__func__, [&](const Call& call) {
    if (device == nullptr) return int{umaprobe::kCudaInvalidValue};
    *device = cuda_thread(call.session()).ordinal;
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int ordinal) noexcept {
  return about_device(__func__, ordinal, value != nullptr, [&](const Call& call, int device) {
    const bool known = device_attribute(call.state().machine, device, attribute, value);
    return known ? 0 : int{umaprobe::kCudaInvalidValue};
  });
}

UMASIM_API cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int ordinal) noexcept {
  return about_device(__func__, ordinal, id != nullptr && size > 12,
                      [&](const Call& call, int device) {
                        const char* const text = call.state().machine.devices[device].pci_bus_id;
                        std::snprintf(id, static_cast<size_t>(size), "%s", text);
                        return 0;
                      });
}

UMASIM_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) noexcept {
  return runtime(__func__, [&](const Call& call) {
    if (device == nullptr || id == nullptr) return int{umaprobe::kCudaInvalidValue};
    const int status = init_cuda(call);
    if (status != 0) return status;
    return ordinal_at(call.state().machine, call.session().visible, id, device);
  });
}

UMASIM_API cudaError_t cudaDeviceSynchronize() noexcept {
  return with_context(__func__, [](const Call& call, int device) {
    synchronize(call, device);
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceReset() noexcept {
  return runtime(__func__, [](const Call& call) {
    const int status = init_cuda(call);
    if (status != 0) return status;
    CudaThread& thread = cuda_thread(call.session());
    Context* context;
    {
      const std::lock_guard<std::mutex> guard(call.session().lock);
      context = call.session().primary[device_of(call.session(), thread.ordinal)];
    }
    if (context != nullptr) destroy_context(call, context);
    thread.stack.clear();
    return 0;
  });
}

UMASIM_API cudaError_t cudaGetLastError() noexcept {
  return run_call(Library::kCudart, __func__, [](const Call& call) {
    CudaThread& thread = cuda_thread(call.session());
    const int error = thread.last_error;
    thread.last_error = 0;
    return error;
  });
}

UMASIM_API cudaError_t cudaPeekAtLastError() noexcept {
  return run_call(Library::kCudart, __func__,
                  [](const Call& call) { return cuda_thread(call.session()).last_error; });
}

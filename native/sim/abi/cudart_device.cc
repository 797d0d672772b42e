// CUDA runtime: versions, devices, contexts.
#include <cstdio>
#include <cstring>

#include "sim/abi/cudart.h"
#include "sim/gpu/cuda_attributes.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_properties.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

// For functions that ask about a device and need no context.
template <typename Body>
cudaError_t about(const char* name, int device, bool arguments_fine, Body body) {
  return runtime(name, [&](const Call& call) {
    if (!arguments_fine) return int{umaprobe::kCudaInvalidValue};
    if (!is_device(call, device)) return int{umaprobe::kCudaInvalidDevice};
    return body(call);
  });
}

cudaError_t properties(const char* name, void* out, int device, const PropertyLayout& layout) {
  return about(name, device, out != nullptr, [&](const Call& call) {
    const State& state = call.state();
    fill_properties(state.machine, device, device_total(state, device), layout, out);
    return 0;
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API cudaError_t cudaRuntimeGetVersion(int* version) noexcept {
  return runtime("cudaRuntimeGetVersion", [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = static_cast<int>(call.state().machine.driver.runtime_version);
    return 0;
  });
}

UMASIM_API cudaError_t cudaDriverGetVersion(int* version) noexcept {
  return runtime("cudaDriverGetVersion", [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = static_cast<int>(call.state().machine.driver.cuda_version);
    return 0;
  });
}

UMASIM_API cudaError_t cudaGetDeviceCount(int* count) noexcept {
  return runtime("cudaGetDeviceCount", [&](const Call& call) {
    if (count == nullptr) return int{umaprobe::kCudaInvalidValue};
    *count = call.state().machine.device_count;
    return *count == 0 ? int{umaprobe::kCudaNoDevice} : 0;
  });
}

UMASIM_API cudaError_t cudaGetDevice(int* device) noexcept {
  return runtime("cudaGetDevice", [&](const Call& call) {
    if (device == nullptr) return int{umaprobe::kCudaInvalidValue};
    *device = thread_view(call.session()).device;
    return 0;
  });
}

UMASIM_API cudaError_t cudaSetDevice(int device) noexcept {
  return about("cudaSetDevice", device, true, [&](const Call& call) {
    ThreadView& view = thread_view(call.session());
    view.device = device;
    // From CUDA 12 on this makes the context; before, the first call that needs one did.
    constexpr uint64_t kMakesContext = 12000;
    if (call.state().machine.driver.runtime_version < kMakesContext) {
      view.stack.clear();
      return 0;
    }
    Context* context;
    const int status = ensure_primary(call, device, &context);
    if (status != 0) return status;
    call.session().cuda_ready = true;
    if (view.stack.empty()) view.stack.push_back(context);
    view.stack.back() = context;
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceGetAttribute(int* value, int attribute, int device) noexcept {
  return about("cudaDeviceGetAttribute", device, value != nullptr, [&](const Call& call) {
    const bool known = device_attribute(call.state().machine, device, attribute, value);
    return known ? 0 : int{umaprobe::kCudaInvalidValue};
  });
}

UMASIM_API cudaError_t cudaGetDeviceProperties(void* out, int device) noexcept {
  return properties("cudaGetDeviceProperties", out, device, kProperties13);
}

UMASIM_API cudaError_t cudaGetDeviceProperties_v2(void* out, int device) noexcept {
  return properties("cudaGetDeviceProperties_v2", out, device, kProperties12);
}

UMASIM_API cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) noexcept {
  return about("cudaDeviceGetPCIBusId", device, id != nullptr && size > 12, [&](const Call& call) {
    const char* const text = call.state().machine.devices[device].pci_bus_id;
    std::snprintf(id, static_cast<size_t>(size), "%s", text);
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) noexcept {
  return runtime("cudaDeviceGetByPCIBusId", [&](const Call& call) {
    if (device == nullptr || id == nullptr) return int{umaprobe::kCudaInvalidValue};
    unsigned domain, bus, slot;
    if (std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      return int{umaprobe::kCudaInvalidValue};
    }
    for (*device = 0; *device < call.state().machine.device_count; ++*device) {
      const PciAddress here = pci_address(call.state().machine.devices[*device]);
      if (here.domain == domain && here.bus == bus && here.device == slot) return 0;
    }
    return int{umaprobe::kCudaInvalidDevice};
  });
}

UMASIM_API cudaError_t cudaDeviceSynchronize() noexcept {
  return with_context("cudaDeviceSynchronize", [](const Call& call, int device) {
    synchronize(call, device);
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceReset() noexcept {
  return runtime("cudaDeviceReset", [](const Call& call) {
    ThreadView& view = thread_view(call.session());
    Context* context;
    {
      const std::lock_guard<std::mutex> guard(call.session().lock);
      context = call.session().primary[view.device];
    }
    if (context != nullptr) destroy_context(call, context);
    view.stack.clear();
    return 0;
  });
}

UMASIM_API cudaError_t cudaGetLastError() noexcept {
  return answer(Library::kCudart, "cudaGetLastError", [](const Call& call) {
    ThreadView& view = thread_view(call.session());
    const int error = view.last_error;
    view.last_error = 0;
    return error;
  });
}

UMASIM_API cudaError_t cudaPeekAtLastError() noexcept {
  return answer(Library::kCudart, "cudaPeekAtLastError",
                [](const Call& call) { return thread_view(call.session()).last_error; });
}

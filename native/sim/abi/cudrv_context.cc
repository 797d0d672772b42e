// CUDA driver: contexts.
#include <algorithm>

#include "sim/abi/cudrv.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

Context* context_of(CUcontext handle) { return reinterpret_cast<Context*>(handle); }
CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

CUresult create(const char* name, CUcontext* out, CUdevice device) {
  return about_device(name, device, out != nullptr,
                      [&](const Call& call, int index, const Device&) {
                        Context* context;
                        const int status = create_context(call, index, false, &context);
                        if (status != 0) return status;
                        cuda_thread(call.session()).stack.push_back(context);
                        *out = handle_of(context);
                        return 0;
                      });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags,
                                               int* active) noexcept {
  return about_device(__func__, device, flags != nullptr && active != nullptr,
                      [&](const Call& call, int index, const Device&) {
                        const std::lock_guard<std::mutex> guard(call.session().lock);
                        *flags = 0;
                        *active = call.session().primary[index] != nullptr;
                        return 0;
                      });
}

UMASIM_API CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) noexcept {
  return about_device(__func__, device, out != nullptr,
                      [&](const Call& call, int index, const Device&) {
                        Context* context;
                        const int status = ensure_primary(call, index, &context);
                        if (status != 0) return status;
                        const std::lock_guard<std::mutex> guard(call.session().lock);
                        context->retained++;
                        *out = handle_of(context);
                        return 0;
                      });
}

UMASIM_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) noexcept {
  return about_device(__func__, device, true, [&](const Call& call, int index, const Device&) {
    Context* context;
    bool last;
    {
      const std::lock_guard<std::mutex> guard(call.session().lock);
      context = call.session().primary[index];
      if (context == nullptr || context->retained == 0) {
        return int{umaprobe::kCudaInvalidContext};
      }
      last = --context->retained == 0;
    }
    if (last) destroy_context(call, context);
    return 0;
  });
}

UMASIM_API CUresult cuCtxCreate_v2(CUcontext* out, unsigned int, CUdevice device) noexcept {
  return create(__func__, out, device);
}

// cuCtxCreate in the header of CUDA 13.
UMASIM_API CUresult cuCtxCreate_v4(CUcontext* out, void*, unsigned int, CUdevice device) noexcept {
  return create(__func__, out, device);
}

UMASIM_API CUresult cuCtxDestroy_v2(CUcontext context) noexcept {
  return driver(__func__, [&](const Call& call) {
    if (!is_live(call.session(), context_of(context)) || context_of(context)->primary) {
      return int{umaprobe::kCudaInvalidContext};
    }
    auto& stack = cuda_thread(call.session()).stack;
    stack.erase(std::remove(stack.begin(), stack.end(), context_of(context)), stack.end());
    destroy_context(call, context_of(context));
    return 0;
  });
}

UMASIM_API CUresult cuCtxSetCurrent(CUcontext context) noexcept {
  return driver(__func__, [&](const Call& call) {
    auto& stack = cuda_thread(call.session()).stack;
    if (context != nullptr && !is_live(call.session(), context_of(context))) {
      return int{umaprobe::kCudaInvalidContext};
    }
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context_of(context));
    return 0;
  });
}

UMASIM_API CUresult cuCtxGetCurrent(CUcontext* context) noexcept {
  return driver(__func__, [&](const Call& call) {
    if (context == nullptr) return int{umaprobe::kCudaInvalidValue};
    const auto& stack = cuda_thread(call.session()).stack;
    *context = stack.empty() ? nullptr : handle_of(stack.back());
    return 0;
  });
}

UMASIM_API CUresult cuCtxPushCurrent_v2(CUcontext context) noexcept {
  return driver(__func__, [&](const Call& call) {
    if (!is_live(call.session(), context_of(context))) return int{umaprobe::kCudaInvalidContext};
    cuda_thread(call.session()).stack.push_back(context_of(context));
    return 0;
  });
}

UMASIM_API CUresult cuCtxPopCurrent_v2(CUcontext* context) noexcept {
  return driver(__func__, [&](const Call& call) {
    auto& stack = cuda_thread(call.session()).stack;
    if (stack.empty()) return int{umaprobe::kCudaInvalidContext};
    if (context != nullptr) *context = handle_of(stack.back());
    stack.pop_back();
    return 0;
  });
}

UMASIM_API CUresult cuCtxSynchronize() noexcept {
  return in_context(__func__, [](const Call& call, int device) {
    synchronize(call, device);
    return 0;
  });
}

UMASIM_API CUresult cuCtxGetDevice(CUdevice* device) noexcept {
  return in_context(__func__, [&](const Call& call, int index) {
    if (device == nullptr) return int{umaprobe::kCudaInvalidValue};
    *device = ordinal_of(call.session(), index);
    return 0;
  });
}

UMASIM_API CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) noexcept {
  return driver(__func__, [&](const Call&) {
    constexpr unsigned int kVersion = 3020;  // the version since CUDA 3.2
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = kVersion;
    return 0;
  });
}

// Does the same as cuCtxDestroy for a context that was created and not attached to.
UMASIM_API CUresult cuCtxDetach(CUcontext context) noexcept { return cuCtxDestroy_v2(context); }

// The names of CUDA 3 and earlier, which programs that open the library by hand still use; the
// arguments have not changed.
UMASIM_API CUresult cuCtxCreate(CUcontext* out, unsigned int flags, CUdevice device) noexcept {
  return cuCtxCreate_v2(out, flags, device);
}
UMASIM_API CUresult cuCtxDestroy(CUcontext context) noexcept { return cuCtxDestroy_v2(context); }
UMASIM_API CUresult cuCtxPushCurrent(CUcontext context) noexcept {
  return cuCtxPushCurrent_v2(context);
}
UMASIM_API CUresult cuCtxPopCurrent(CUcontext* context) noexcept {
  return cuCtxPopCurrent_v2(context);
}
UMASIM_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) noexcept {
  return cuDevicePrimaryCtxRelease_v2(device);
}

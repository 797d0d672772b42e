// CUDA driver: modules and kernels.
#include <algorithm>

#include "sim/abi/cudrv.h"
#include "sim/gpu/kernels.h"

namespace umasim {
namespace {

constexpr int kInvalidHandle = 400;

// Modules and functions are never deleted, so a stale handle is refused and not dereferenced.
bool is_loaded(Session& session, const Module* module) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto& all = session.modules;
  return std::find(all.begin(), all.end(), module) != all.end() && module->loaded;
}

const KernelFunction* function_of(Session& session, const CUfunc_st* handle) {
  const auto* function = reinterpret_cast<const KernelFunction*>(handle);
  const std::lock_guard<std::mutex> guard(session.lock);
  for (const Module* module : session.modules) {
    const auto& all = module->functions;
    const bool found = std::any_of(all.begin(), all.end(),
                                   [&](const KernelFunction& one) { return &one == function; });
    if (found) return module->loaded ? function : nullptr;
  }
  return nullptr;
}

CUresult load(const char* name, CUmodule* out, const void* image) {
  return in_context(name, [&](const Call& call, int device) {
    if (out == nullptr || image == nullptr) return int{umaprobe::kCudaInvalidValue};
    auto* module = new Module{device, true, {}};
    const int status = read_image(call.state().machine.devices[device],
                                  static_cast<const char*>(image), &module->functions);
    if (status != 0) {
      delete module;
      return status;
    }
    for (KernelFunction& function : module->functions) function.module = module;
    const std::lock_guard<std::mutex> guard(call.session().lock);
    call.session().modules.push_back(module);
    *out = reinterpret_cast<CUmodule>(module);
    return 0;
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuModuleLoadData(CUmodule* module, const void* image) noexcept {
  return load(__func__, module, image);
}

// The options tune the PTX compiler, which the simulator does not have.
UMASIM_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, int*,
                                       void**) noexcept {
  return load(__func__, module, image);
}

UMASIM_API CUresult cuModuleUnload(CUmodule handle) noexcept {
  return in_context(__func__, [&](const Call& call, int) {
    auto* module = reinterpret_cast<Module*>(handle);
    if (!is_loaded(call.session(), module)) return kInvalidHandle;
    const std::lock_guard<std::mutex> guard(call.session().lock);
    module->loaded = false;
    return 0;
  });
}

UMASIM_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle,
                                        const char* name) noexcept {
  return in_context(__func__, [&](const Call& call, int) {
    if (out == nullptr || name == nullptr) return int{umaprobe::kCudaInvalidValue};
    auto* module = reinterpret_cast<Module*>(handle);
    if (!is_loaded(call.session(), module)) return kInvalidHandle;
    for (KernelFunction& function : module->functions) {
      if (function.name != name) continue;
      *out = reinterpret_cast<CUfunction>(&function);
      return 0;
    }
    return int{umaprobe::kCudaNotFound};
  });
}

UMASIM_API CUresult cuFuncGetAttribute(int* value, int attribute, CUfunction handle) noexcept {
  return in_context(__func__, [&](const Call& call, int) {
    constexpr int kMaxThreadsPerBlock = 0, kSharedBytes = 1, kConstBytes = 2, kLocalBytes = 3;
    if (value == nullptr) return int{umaprobe::kCudaInvalidValue};
    if (function_of(call.session(), handle) == nullptr) return kInvalidHandle;
    switch (attribute) {
      case kMaxThreadsPerBlock:
        *value = 1024;
        return 0;
      case kSharedBytes:
      case kConstBytes:
      case kLocalBytes:
        *value = 0;
        return 0;
      default:  // not simulated, such as the number of registers
        return int{umaprobe::kCudaInvalidValue};
    }
  });
}

UMASIM_API CUresult cuLaunchKernel(CUfunction handle, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int, CUstream, void** parameters,
                                   void** extra) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    const KernelFunction* function = function_of(call.session(), handle);
    if (function == nullptr || function->module->device != device) return kInvalidHandle;
    if (!is_grid({grid_x, grid_y, grid_z}) || !is_block({block_x, block_y, block_z})) {
      return int{umaprobe::kCudaInvalidValue};
    }
    if (parameters == nullptr || extra != nullptr) return int{umaprobe::kCudaInvalidValue};
    return run_kernel(call, device, *function, parameters);
  });
}

UMASIM_OTHER_STREAM(cuLaunchKernel, ptsz);

// cuGetProcAddress: finds a driver function by name, in the newest version of the caller's CUDA.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "sim/abi/cudrv.h"

namespace umasim {
namespace {

// Functions whose unversioned name stands for their _v2.
constexpr const char* kVersioned[] = {
    "cuDeviceTotalMem",
    "cuDevicePrimaryCtxRelease",
    "cuCtxDestroy",
    "cuCtxPushCurrent",
    "cuCtxPopCurrent",
    "cuMemGetInfo",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemsetD8",
    "cuMemsetD32",
    "cuMemcpyDtoH",
    "cuMemcpyHtoD",
    "cuMemHostGetDevicePointer",
    "cuGetProcAddress",
};

std::string exported_name(const char* name, int cuda_version) {
  for (const char* versioned : kVersioned) {
    if (std::strcmp(versioned, name) == 0) return std::string(name) + "_v2";
  }
  if (std::strcmp(name, "cuCtxCreate") == 0) {
    return cuda_version >= 13000 ? "cuCtxCreate_v4" : "cuCtxCreate_v2";
  }
  if (std::strcmp(name, "cuDeviceGetUuid") == 0 && cuda_version >= 11040) {
    return "cuDeviceGetUuid_v2";
  }
  return name;
}

// This library, by whatever path it was loaded.
void* self() {
  Dl_info info;
  static void* const handle = dladdr(reinterpret_cast<void*>(&exported_name), &info) != 0
                                  ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                  : nullptr;
  return handle;
}

enum Found { kFound = 0, kNotFound = 1 };

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuGetProcAddress_v2(const char* name, void** function, int cuda_version,
                                        uint64_t, int* found) noexcept {
  return run_call(Library::kCuda, "cuGetProcAddress_v2", [&](const Call& call) {
    if (name == nullptr || function == nullptr) return int{umaprobe::kCudaInvalidValue};
    const std::string exported = exported_name(name, cuda_version);
    const bool is_driver = std::strncmp(name, "cu", 2) == 0 && std::strncmp(name, "cuda", 4) != 0;
    const bool exists = is_driver && has_symbol(call.state().machine, exported.c_str());
    *function = exists && self() != nullptr ? dlsym(self(), exported.c_str()) : nullptr;
    if (found != nullptr) *found = *function != nullptr ? kFound : kNotFound;
    return *function != nullptr ? 0 : int{umaprobe::kCudaNotFound};
  });
}

// cuGetProcAddress: a driver function by name, the newest version that the caller's CUDA knows.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "sim/abi/cudrv.h"

namespace umasim {
namespace {

// Functions whose unversioned name means a version.
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

// This very library, however it was loaded.
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
  return answer(Library::kCuda, "cuGetProcAddress_v2", [&](const Call& call) {
    if (name == nullptr || function == nullptr) return int{umaprobe::kCudaInvalidValue};
    const std::string exported = exported_name(name, cuda_version);
    const bool ours = std::strncmp(name, "cu", 2) == 0 && std::strncmp(name, "cuda", 4) != 0;
    const bool there = ours && has_symbol(call.state().machine, exported.c_str());
    *function = there && self() != nullptr ? dlsym(self(), exported.c_str()) : nullptr;
    if (found != nullptr) *found = *function != nullptr ? kFound : kNotFound;
    return *function != nullptr ? 0 : int{umaprobe::kCudaNotFound};
  });
}

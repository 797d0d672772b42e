// Lookups in the driver: cuGetProcAddress finds a function by its name, in the newest version of
// the caller's CUDA, and cuGetExportTable one of NVIDIA's private tables.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "sim/abi/cudrv.h"
#include "sim/abi/notice.h"

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
    "cuMemcpyDtoD",
    "cuMemcpyDtoHAsync",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoDAsync",
    "cuMemAllocHost",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuModuleGetGlobal",
    "cuLinkCreate",
    "cuLinkAddData",
    "cuMemGetAddressRange",
    "cuIpcOpenMemHandle",
    "cuStreamWriteValue32",
    "cuStreamWaitValue32",
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

// Returns the handle of this library, by whatever path it was loaded.
void* self() {
  Dl_info info;
  static void* const handle = dladdr(reinterpret_cast<void*>(&exported_name), &info) != 0
                                  ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                  : nullptr;
  return handle;
}

// Returns null if the driver has no such function.
void* find_function(const Call& call, const char* name, int cuda_version) {
  const bool is_driver = std::strncmp(name, "cu", 2) == 0 && std::strncmp(name, "cuda", 4) != 0;
  const std::string exported = exported_name(name, cuda_version);
  const bool exists = is_driver && has_symbol(call.state().machine, exported.c_str());
  return exists && self() != nullptr ? dlsym(self(), exported.c_str()) : nullptr;
}

// A program built for a newer CUDA than the driver's.
bool is_too_new(const Call& call, int cuda_version) {
  return static_cast<uint64_t>(cuda_version) > call.state().machine.driver.cuda_version;
}

enum Found { kFound = 0, kNotFound = 1 };

// Only NVIDIA's own runtime asks for private tables. It is part of the program (nvcc links it
// statically unless told otherwise), or a libcudart that the loader found before the simulated one.
void explain_private_tables(const void* caller) {
  Dl_info info;
  const bool known = dladdr(caller, &info) != 0 && info.dli_fname != nullptr;
  const std::string file = known ? info.dli_fname : "This program";
  const bool is_library = file.compare(file.rfind('/') + 1, 12, "libcudart.so") == 0;
  notice_once(Notice::kOwnRuntime,
              is_library
                  ? file +
                        " is NVIDIA's own CUDA runtime, which needs a real driver. Remove it from "
                        "RPATH, LD_PRELOAD or LD_LIBRARY_PATH, so that the simulated one is found."
                  : file +
                        " has NVIDIA's CUDA runtime linked in, which needs a real driver. Build it "
                        "with nvcc -cudart shared, so that the simulated one is found.");
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuGetProcAddress_v2(const char* name, void** function, int cuda_version,
                                        uint64_t, int* found) noexcept {
  return run_call(Library::kCuda, __func__, [&](const Call& call) {
    if (name == nullptr || function == nullptr || is_too_new(call, cuda_version)) {
      return int{umaprobe::kCudaInvalidValue};
    }
    *function = find_function(call, name, cuda_version);
    // A function that is not found is an answer and no error, as cuda.h says.
    if (found != nullptr) *found = *function != nullptr ? kFound : kNotFound;
    return 0;
  });
}

// The function of CUDA 11.3 to 11.8, with an error for a function that is not found.
UMASIM_API CUresult cuGetProcAddress(const char* name, void** function, int cuda_version,
                                     uint64_t) noexcept {
  return run_call(Library::kCuda, __func__, [&](const Call& call) {
    if (name == nullptr || function == nullptr || is_too_new(call, cuda_version)) {
      return int{umaprobe::kCudaInvalidValue};
    }
    *function = find_function(call, name, cuda_version);
    return *function != nullptr ? 0 : int{umaprobe::kCudaNotFound};
  });
}

UMASIM_API CUresult cuGetExportTable(const void** table, const CUuuid* id) noexcept {
  explain_private_tables(__builtin_return_address(0));
  return run_call(Library::kCuda, __func__, [&](const Call&) {
    if (table == nullptr || id == nullptr) return int{umaprobe::kCudaInvalidValue};
    *table = nullptr;
    return int{umaprobe::kCudaNotSupported};
  });
}

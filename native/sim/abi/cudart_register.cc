// CUDA runtime: the calls that nvcc adds to a program's own code. The program registers its images
// (fat binaries), and the kernels and variables in them, before main(); see host_runtime.h of
// NVIDIA's toolkit. None of it needs a machine.
#include <cstdlib>

#include "sim/abi/export.h"
#include "sim/abi/notice.h"
#include "sim/gpu/registered_kernels.h"

using namespace umasim;

// The handle of an image is a cell with its address: callers pass it on, and some read it.
UMASIM_API void** __cudaRegisterFatBinary(void* image) noexcept {
  auto** const handle = static_cast<void**>(std::malloc(sizeof image));
  if (handle != nullptr) *handle = image;
  return handle;
}

UMASIM_API void __cudaRegisterFatBinaryEnd(void**) noexcept {}

UMASIM_API void __cudaUnregisterFatBinary(void** handle) noexcept {
  unregister_kernels(handle);
  std::free(handle);
}

// Some programs ask whether an image has been loaded, which here needs no loading.
UMASIM_API char __cudaInitModule(void**) noexcept { return 1; }

UMASIM_API void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                       const char* name, int, void*, void*, void*, void*,
                                       int*) noexcept {
  register_kernel(handle, host_function, name);
}

// Variables of the device (__device__, __constant__), textures and surfaces: only kernels and
// symbol copies use them, and both are refused.
UMASIM_API void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int,
                                  int) noexcept {}
UMASIM_API void __cudaRegisterHostVar(void**, const char*, char*, size_t) noexcept {}
UMASIM_API void __cudaRegisterTexture(void**, const void*, const void**, const char*, int, int,
                                      int) noexcept {}
UMASIM_API void __cudaRegisterSurface(void**, const void*, const void**, const char*, int,
                                      int) noexcept {}

// The program reads and writes managed variables through this pointer. Their initial values are in
// the image, so they begin as zeros here, and are not accounted as the machine's memory.
UMASIM_API void __cudaRegisterManagedVar(void**, void** pointer, char*, const char* name, int,
                                         size_t bytes, int, int) noexcept {
  notice_once(Notice::kManagedVariable,
              std::string("__managed__ variables begin as zeros on a simulated machine, whatever "
                          "the program says; the first is ") +
                  name + ".");
  *pointer = std::calloc(1, bytes);
}

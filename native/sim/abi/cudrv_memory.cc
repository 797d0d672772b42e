// CUDA driver: memory.
#include "sim/abi/cudrv.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

CUresult allocate_as(const char* name, BlockKind kind, CUdeviceptr* out, size_t bytes) {
  return in_context(name, [&](const Call& call, int device) {
    if (out == nullptr || bytes == 0) return int{umaprobe::kCudaInvalidValue};
    void* address;
    const int status = memory_allocate(call, kind, device, bytes, &address);
    if (status == 0) *out = reinterpret_cast<uintptr_t>(address);
    return status;
  });
}

CUresult copy_async(const char* name, void* to, const void* from, size_t bytes) {
  return in_context(name, [&](const Call& call, int device) {
    return memory_copy(call, device, to, from, bytes);
  });
}

CUresult copy(const char* name, void* to, const void* from, size_t bytes) {
  return in_context(name, [&](const Call& call, int device) {
    const int status = memory_copy(call, device, to, from, bytes);
    if (status == 0) synchronize(call, device);
    return status;
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    if (free == nullptr || total == nullptr) return int{umaprobe::kCudaInvalidValue};
    memory_info(call.state(), device, free, total);
    return 0;
  });
}

UMASIM_API CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) noexcept {
  return allocate_as(__func__, BlockKind::kDevice, address, bytes);
}

UMASIM_API CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned int) noexcept {
  return allocate_as(__func__, BlockKind::kManaged, address, bytes);
}

UMASIM_API CUresult cuMemFree_v2(CUdeviceptr address) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    synchronize(call, device);
    return memory_free(call, pointer(address), BlockKind::kDevice, BlockKind::kManaged);
  });
}

UMASIM_API CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned int) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    if (address == nullptr || bytes == 0) return int{umaprobe::kCudaInvalidValue};
    return memory_allocate(call, BlockKind::kPinned, device, bytes, address);
  });
}

UMASIM_API CUresult cuMemAllocHost_v2(void** address, size_t bytes) noexcept {
  return cuMemHostAlloc(address, bytes, 0);
}

UMASIM_API CUresult cuMemFreeHost(void* address) noexcept {
  return in_context(__func__, [&](const Call& call, int) {
    return memory_free(call, address, BlockKind::kPinned, BlockKind::kPinned);
  });
}

// Unified addressing: the device address of pinned memory is the host address.
UMASIM_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* out, void* address,
                                                 unsigned int) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    if (out == nullptr || address == nullptr) return int{umaprobe::kCudaInvalidValue};
    if (call.state().machine.devices[device].attributes.canMapHostMemory == 0) {
      return int{umaprobe::kCudaNotSupported};
    }
    *out = reinterpret_cast<uintptr_t>(address);
    return 0;
  });
}

UMASIM_API CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    return memory_fill(call, device, pointer(address), count, value * 0x01010101u);
  });
}

UMASIM_API CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned int value, size_t count) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    constexpr size_t kMost = ~size_t{0} / 4;
    if (address % 4 != 0 || count > kMost) return int{umaprobe::kCudaInvalidValue};
    return memory_fill(call, device, pointer(address), count * 4, value);
  });
}

UMASIM_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) noexcept {
  return copy(__func__, to, pointer(from), bytes);
}

UMASIM_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) noexcept {
  return copy(__func__, pointer(to), from, bytes);
}

UMASIM_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) noexcept {
  return copy(__func__, pointer(to), pointer(from), bytes);
}

UMASIM_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) noexcept {
  return copy(__func__, pointer(to), pointer(from), bytes);
}

UMASIM_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes,
                                         CUstream) noexcept {
  return copy_async(__func__, to, pointer(from), bytes);
}

UMASIM_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                         CUstream) noexcept {
  return copy_async(__func__, pointer(to), from, bytes);
}

UMASIM_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                         CUstream) noexcept {
  return copy_async(__func__, pointer(to), pointer(from), bytes);
}

UMASIM_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                  CUstream) noexcept {
  return copy_async(__func__, pointer(to), pointer(from), bytes);
}

// Fills are queued in any case.
UMASIM_API CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count,
                                    CUstream) noexcept {
  return cuMemsetD8_v2(address, value, count);
}

UMASIM_API CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count,
                                     CUstream) noexcept {
  return cuMemsetD32_v2(address, value, count);
}

UMASIM_OTHER_STREAM(cuMemsetD8_v2, ptds);
UMASIM_OTHER_STREAM(cuMemsetD32_v2, ptds);
UMASIM_OTHER_STREAM(cuMemsetD8Async, ptsz);
UMASIM_OTHER_STREAM(cuMemsetD32Async, ptsz);
UMASIM_OTHER_STREAM(cuMemcpy, ptds);
UMASIM_OTHER_STREAM(cuMemcpyAsync, ptsz);
UMASIM_OTHER_STREAM(cuMemcpyDtoH_v2, ptds);
UMASIM_OTHER_STREAM(cuMemcpyHtoD_v2, ptds);
UMASIM_OTHER_STREAM(cuMemcpyDtoD_v2, ptds);
UMASIM_OTHER_STREAM(cuMemcpyDtoHAsync_v2, ptsz);
UMASIM_OTHER_STREAM(cuMemcpyHtoDAsync_v2, ptsz);
UMASIM_OTHER_STREAM(cuMemcpyDtoDAsync_v2, ptsz);

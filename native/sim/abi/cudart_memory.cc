// CUDA runtime: memory.
#include "sim/abi/cudart.h"
#include "sim/gpu/address_map.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

constexpr unsigned int kRegisterReadOnly = 8;

cudaError_t allocate_as(const char* name, BlockKind kind, void** address, size_t bytes) {
  return with_context(name, [&](const Call& call, int device) {
    return address == nullptr ? umaprobe::kCudaInvalidValue
                              : memory_allocate(call, kind, device, bytes, address);
  });
}

cudaError_t fill(const char* name, void* address, int value, size_t bytes) {
  const uint32_t byte = static_cast<unsigned char>(value);
  return with_context(name, [&](const Call& call, int device) {
    return memory_fill(call, device, address, bytes, byte * 0x01010101u);
  });
}

// cudaMemLocation.
struct Location {
  int type, id;
};

// cudaPointerAttributes. CUDA 13 has reserved fields behind it, which stay as they are.
struct PointerAttributes {
  int type, device;
  void *on_device, *on_host;
};

// cudaMemoryType.
int memory_type(BlockKind kind) {
  constexpr int kHost = 1, kDevice = 2, kManaged = 3;
  if (kind == BlockKind::kDevice) return kDevice;
  return kind == BlockKind::kManaged ? kManaged : kHost;
}

cudaError_t prefetch(const char* name, const void* address, size_t bytes) {
  return with_context(name, [&](const Call& call, int device) {
    return memory_prefetch(call, device, address, bytes);
  });
}

cudaError_t copy(const char* name, void* to, const void* from, size_t bytes, bool wait) {
  return with_context(name, [&](const Call& call, int device) {
    const int status = memory_copy(call, device, to, from, bytes);
    if (status == 0 && wait) synchronize(call, device);
    return status;
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    if (free == nullptr || total == nullptr) return int{umaprobe::kCudaInvalidValue};
    memory_info(call.state(), device, free, total);
    return 0;
  });
}

UMASIM_API cudaError_t cudaMalloc(void** address, size_t bytes) noexcept {
  return allocate_as(__func__, BlockKind::kDevice, address, bytes);
}

UMASIM_API cudaError_t cudaMallocManaged(void** address, size_t bytes, unsigned int) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    if (call.state().machine.devices[device].attributes.managedMemory == 0) {
      return int{umaprobe::kCudaNotSupported};
    }
    return address == nullptr ? umaprobe::kCudaInvalidValue
                              : memory_allocate(call, BlockKind::kManaged, device, bytes, address);
  });
}

UMASIM_API cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned int) noexcept {
  return allocate_as(__func__, BlockKind::kPinned, address, bytes);
}

UMASIM_API cudaError_t cudaMallocHost(void** address, size_t bytes) noexcept {
  return allocate_as(__func__, BlockKind::kPinned, address, bytes);
}

// cudaFree(nullptr) is the usual way to create the context.
UMASIM_API cudaError_t cudaFree(void* address) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    synchronize(call, device);
    return memory_free(call, address, BlockKind::kDevice, BlockKind::kManaged);
  });
}

UMASIM_API cudaError_t cudaFreeHost(void* address) noexcept {
  return with_context(__func__, [&](const Call& call, int) {
    return memory_free(call, address, BlockKind::kPinned, BlockKind::kPinned);
  });
}

UMASIM_API cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned int flags) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    const Attributes& attributes = call.state().machine.devices[device].attributes;
    const bool read_only = (flags & kRegisterReadOnly) != 0;
    if (attributes.hostRegisterSupported == 0 ||
        (read_only && attributes.hostRegisterReadOnlySupported == 0)) {
      return int{umaprobe::kCudaNotSupported};
    }
    return memory_register(call, device, address, bytes);
  });
}

UMASIM_API cudaError_t cudaHostUnregister(void* address) noexcept {
  return with_context(__func__, [&](const Call& call, int) {
    constexpr int kNotRegistered = 713;
    const int status = memory_free(call, address, BlockKind::kRegistered, BlockKind::kRegistered);
    return address == nullptr ? umaprobe::kCudaInvalidValue : status == 0 ? 0 : kNotRegistered;
  });
}

// Unified addressing: the device address of pinned memory is the host address.
UMASIM_API cudaError_t cudaHostGetDevicePointer(void** device_address, void* address,
                                                unsigned int) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    if (device_address == nullptr || address == nullptr) return int{umaprobe::kCudaInvalidValue};
    if (call.state().machine.devices[device].attributes.canMapHostMemory == 0) {
      return int{umaprobe::kCudaNotSupported};
    }
    *device_address = address;
    return 0;
  });
}

UMASIM_API cudaError_t cudaMemset(void* address, int value, size_t bytes) noexcept {
  return fill(__func__, address, value, bytes);
}

UMASIM_API cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes, void*) noexcept {
  return fill(__func__, address, value, bytes);
}

UMASIM_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, int) noexcept {
  return copy(__func__, to, from, bytes, true);
}

UMASIM_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, int,
                                       void*) noexcept {
  return copy(__func__, to, from, bytes, false);
}

// The arguments are those of CUDA 13. CUDA 12 has the device in place of the location, and has
// these arguments under the name _v2. Neither the location nor the device is used.
UMASIM_API cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, Location,
                                            unsigned int, void*) noexcept {
  return prefetch(__func__, address, bytes);
}

UMASIM_API cudaError_t cudaMemPrefetchAsync_v2(const void* address, size_t bytes, Location,
                                               unsigned int, void*) noexcept {
  return prefetch(__func__, address, bytes);
}

// A hint. CUDA 12 has the device in place of the location.
UMASIM_API cudaError_t cudaMemAdvise(const void*, size_t, int, Location) noexcept {
  return with_context(__func__, [](const Call&, int) { return 0; });
}

UMASIM_API cudaError_t cudaPointerGetAttributes(PointerAttributes* out,
                                                const void* address) noexcept {
  return runtime(__func__, [&](const Call& call) {
    if (out == nullptr) return int{umaprobe::kCudaInvalidValue};
    constexpr int kNoDevice = -2;
    void* const pointer = const_cast<void*>(address);
    Session& session = call.session();
    const std::lock_guard<std::mutex> guard(session.lock);
    const auto found = find_allocation(session, address);
    if (found == session.allocations.end() || found->second.kind == BlockKind::kSystem) {
      *out = {0, kNoDevice, nullptr, pointer};
      return 0;
    }
    const Allocation& allocation = found->second;
    *out = {memory_type(allocation.kind), ordinal_of(session, allocation.device), pointer, pointer};
    if (allocation.kind == BlockKind::kDevice) out->on_host = nullptr;
    return 0;
  });
}

UMASIM_OTHER_STREAM(cudaMemset, ptds);
UMASIM_OTHER_STREAM(cudaMemsetAsync, ptsz);
UMASIM_OTHER_STREAM(cudaMemcpy, ptds);
UMASIM_OTHER_STREAM(cudaMemcpyAsync, ptsz);
UMASIM_OTHER_STREAM(cudaMemPrefetchAsync, ptsz);
UMASIM_OTHER_STREAM(cudaMemPrefetchAsync_v2, ptsz);

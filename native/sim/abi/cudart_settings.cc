// CUDA runtime: settings, hints and relations between devices that programs ask for at their start.
// They change nothing on a simulated machine; for a feature that it lacks, it answers as a device
// without that feature does.
#include "sim/abi/cudart.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

cudaError_t accept(const char* name) {
  return runtime(name, [](const Call&) { return 0; });
}

template <typename Value>
cudaError_t answer(const char* name, Value* out, Value value) {
  return runtime(name, [&](const Call&) {
    if (out == nullptr) return int{umaprobe::kCudaInvalidValue};
    *out = value;
    return 0;
  });
}

// A relation of two devices: neither reaches the memory of the other.
cudaError_t relation(const char* name, int* out, int ordinal, int other) {
  return about_device(name, ordinal, out != nullptr, [&](const Call& call, int) {
    return with_ordinal(call, other, true, [&](const Call&, int) {
      *out = 0;
      return 0;
    });
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API cudaError_t cudaInitDevice(int ordinal, unsigned int, unsigned int) noexcept {
  return about_device(__func__, ordinal, true, [](const Call& call, int device) {
    Context* context;
    return ensure_primary(call, device, &context);
  });
}

UMASIM_API cudaError_t cudaSetDeviceFlags(unsigned int) noexcept { return accept(__func__); }
UMASIM_API cudaError_t cudaGetDeviceFlags(unsigned int* flags) noexcept {
  constexpr unsigned int kMapHost = 8;  // always set on 64-bit systems
  return answer(__func__, flags, kMapHost);
}

UMASIM_API cudaError_t cudaDeviceSetCacheConfig(int) noexcept { return accept(__func__); }
UMASIM_API cudaError_t cudaDeviceGetCacheConfig(int* preference) noexcept {
  return answer(__func__, preference, 0);
}
UMASIM_API cudaError_t cudaFuncSetCacheConfig(const void*, int) noexcept {
  return accept(__func__);
}

UMASIM_API cudaError_t cudaProfilerStart() noexcept { return accept(__func__); }
UMASIM_API cudaError_t cudaProfilerStop() noexcept { return accept(__func__); }

UMASIM_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) noexcept {
  return runtime(__func__, [&](const Call&) {
    constexpr int kGreatest = -5;  // the same for every device of these generations
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatest;
    return 0;
  });
}

UMASIM_API cudaError_t cudaDeviceCanAccessPeer(int* can, int ordinal, int peer) noexcept {
  return relation(__func__, can, ordinal, peer);
}
UMASIM_API cudaError_t cudaDeviceGetP2PAttribute(int* value, int, int ordinal, int peer) noexcept {
  return relation(__func__, value, ordinal, peer);
}
UMASIM_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) noexcept {
  constexpr int kPeerAccessUnsupported = 217;
  return about_device(__func__, peer, true,
                      [](const Call&, int) { return kPeerAccessUnsupported; });
}

// The name of CUDA 3 for cudaDeviceSynchronize; CUDA 13 has removed it.
UMASIM_API cudaError_t cudaThreadSynchronize() noexcept {
  return with_context(__func__, [](const Call& call, int device) {
    synchronize(call, device);
    return 0;
  });
}

// CUDA driver: initialization, versions, devices.
#include <cstdio>
#include <cstring>

#include "sim/abi/cudrv.h"
#include "sim/gpu/cuda_attributes.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

CUresult uuid(const char* name, CUuuid* out, CUdevice device) {
  return about_device(name, device, out != nullptr, [&](const Call&, int, const Device& facts) {
    uuid_bytes(facts, reinterpret_cast<unsigned char*>(out->bytes));
    return 0;
  });
}

CUresult relation(const char* name, int* out, CUdevice device, CUdevice other) {
  return about_device(name, device, out != nullptr, [&](const Call& call, int, const Device&) {
    return with_ordinal(call, other, true, [&](const Call&, int) {
      *out = 0;
      return 0;
    });
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API CUresult cuInit(unsigned int) noexcept {
  return run_call(Library::kCuda, __func__, init_cuda);
}

// Works before cuInit.
UMASIM_API CUresult cuDriverGetVersion(int* version) noexcept {
  return run_call(Library::kCuda, __func__, [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kCudaInvalidValue};
    *version = static_cast<int>(call.state().machine.driver.cuda_version);
    return 0;
  });
}

UMASIM_API CUresult cuDeviceGetCount(int* count) noexcept {
  return driver(__func__, [&](const Call& call) {
    if (count == nullptr) return int{umaprobe::kCudaInvalidValue};
    *count = call.session().visible.count;
    return 0;
  });
}

UMASIM_API CUresult cuDeviceGet(CUdevice* device, int ordinal) noexcept {
  return about_device(__func__, ordinal, device != nullptr, [&](const Call&, int, const Device&) {
    *device = ordinal;
    return 0;
  });
}

UMASIM_API CUresult cuDeviceGetName(char* name, int size, CUdevice device) noexcept {
  return about_device(__func__, device, name != nullptr && size > 0,
                      [&](const Call&, int, const Device& facts) {
                        std::snprintf(name, static_cast<size_t>(size), "%s", facts.name);
                        return 0;
                      });
}

UMASIM_API CUresult cuDeviceGetUuid(CUuuid* out, CUdevice device) noexcept {
  return uuid(__func__, out, device);
}

UMASIM_API CUresult cuDeviceGetUuid_v2(CUuuid* out, CUdevice device) noexcept {
  return uuid(__func__, out, device);
}

UMASIM_API CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) noexcept {
  return about_device(__func__, device, value != nullptr,
                      [&](const Call& call, int index, const Device&) {
                        return device_attribute(call.state().machine, index, attribute, value)
                                   ? 0
                                   : int{umaprobe::kCudaInvalidValue};
                      });
}

UMASIM_API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) noexcept {
  return about_device(__func__, device, bytes != nullptr,
                      [&](const Call& call, int index, const Device&) {
                        *bytes = device_total(call.state(), index);
                        return 0;
                      });
}

UMASIM_API CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) noexcept {
  return about_device(__func__, device, id != nullptr && size > 12,
                      [&](const Call&, int, const Device& facts) {
                        std::snprintf(id, static_cast<size_t>(size), "%s", facts.pci_bus_id);
                        return 0;
                      });
}

UMASIM_API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) noexcept {
  return about_device(__func__, device, major != nullptr && minor != nullptr,
                      [&](const Call&, int, const Device& facts) {
                        compute_capability(facts, major, minor);
                        return 0;
                      });
}

// Two devices never reach the memory of each other.
UMASIM_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) noexcept {
  return relation(__func__, can, device, peer);
}

UMASIM_API CUresult cuDeviceGetP2PAttribute(int* value, int, CUdevice device,
                                            CUdevice peer) noexcept {
  return relation(__func__, value, device, peer);
}

UMASIM_API CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) noexcept {
  return driver(__func__, [&](const Call& call) {
    if (device == nullptr || id == nullptr) return int{umaprobe::kCudaInvalidValue};
    return ordinal_at(call.state().machine, call.session().visible, id, device);
  });
}

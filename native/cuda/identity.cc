#include "cuda/identity.h"

#include <cstdio>
#include <cstring>

namespace umaprobe {
namespace {

Fact<std::string> driver_name(CallContext& context, const CudaDriver& driver, CUdevice device) {
  char name[256] = "";
  auto failure = call(context, driver, driver.cuDeviceGetName, name, int(sizeof name), device);
  return fact(failure, std::string(name));
}

Fact<std::string> driver_pci(CallContext& context, const CudaDriver& driver, CUdevice device) {
  char id[64] = "";
  auto failure = call(context, driver, driver.cuDeviceGetPCIBusId, id, int(sizeof id), device);
  return fact(failure, std::string(id));
}

std::string uuid_text(const char* prefix, const CUuuid& uuid) {
  unsigned char b[16];
  std::memcpy(b, uuid.bytes, sizeof b);
  char text[48];
  std::snprintf(text, sizeof text,
                "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", prefix,
                b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                b[13], b[14], b[15]);
  return text;
}

// The function _v2 returns the UUID of a MIG slice, and the older function that of the whole GPU
// (NVIDIA's documentation of both), so different UUIDs mean "MIG-", NVML's prefix. This is not
// verified on hardware.
Fact<std::string> driver_uuid(CallContext& context, const CudaDriver& driver, CUdevice device) {
  CUuuid gpu{}, uuid{};
  auto old_failure = call(context, driver, driver.cuDeviceGetUuid, &gpu, device);
  auto failure = call(context, driver, driver.cuDeviceGetUuid_v2, &uuid, device);
  if (failure) return fact(old_failure, uuid_text("GPU", gpu));
  const bool slice = !old_failure && std::memcmp(&gpu, &uuid, sizeof uuid) != 0;
  return uuid_text(slice ? "MIG" : "GPU", uuid);
}

Fact<double> driver_total(CallContext& context, const CudaDriver& driver, CUdevice device) {
  size_t bytes = 0;
  auto failure = call(context, driver, driver.cuDeviceTotalMem_v2, &bytes, device);
  return fact(failure, static_cast<double>(bytes));
}

Fact<std::string> runtime_pci(CallContext& context, const Cudart& runtime, int ordinal) {
  char id[64] = "";
  auto failure = call(context, runtime, runtime.cudaDeviceGetPCIBusId, id, int(sizeof id), ordinal);
  return fact(failure, std::string(id));
}

Fact<std::string> capability(const Fact<double>& major, const Fact<double>& minor) {
  if (const Failure* failure = failure_of(major)) return *failure;
  if (const Failure* failure = failure_of(minor)) return *failure;
  return std::to_string(int(std::get<double>(major))) + "." +
         std::to_string(int(std::get<double>(minor)));
}

// The identity of one device in a shared report.
struct SharedIdentity {
  Shared<CudaReport>& report;
  size_t ordinal;

  template <class Change>
  void update(Change change) const {
    report.update([&](CudaReport& value) { change(value.devices[ordinal].identity); });
  }
};

// `attribute(number)` reads one attribute.
template <class Attribute>
void read_attributes(const SharedIdentity& shared, Attribute attribute) {
  const Fact<double> major = attribute(kAttrComputeCapabilityMajor);
  const Fact<double> minor = attribute(kAttrComputeCapabilityMinor);
  shared.update(
      [&](CudaIdentity& identity) { identity.computeCapability = capability(major, minor); });
  for (size_t i = 0; i < kAttributeCount; ++i) {
    const Fact<double> value = attribute(kAttributes[i].number);
    shared.update([&](CudaIdentity& identity) { identity.attributes.values[i] = value; });
  }
}

void read_with_driver(CallContext& context, const CudaDriver& driver, CUdevice device,
                      const SharedIdentity& shared) {
  const auto name = driver_name(context, driver, device);
  shared.update([&](CudaIdentity& identity) { identity.name = name; });
  const auto uuid = driver_uuid(context, driver, device);
  shared.update([&](CudaIdentity& identity) { identity.uuid = uuid; });
  const auto pci = driver_pci(context, driver, device);
  shared.update([&](CudaIdentity& identity) { identity.pciBusId = pci; });
  const auto total = driver_total(context, driver, device);
  shared.update([&](CudaIdentity& identity) {
    identity.totalMem = identity.attributes.totalGlobalMem = total;
  });
  read_attributes(shared, [&](int attribute) -> Fact<double> {
    int value = 0;
    auto failure = call(context, driver, driver.cuDeviceGetAttribute, &value, attribute, device);
    return fact(failure, static_cast<double>(value));
  });
}

void read_with_runtime(CallContext& context, const Cudart& runtime, int ordinal,
                       const Failure& no_driver, const SharedIdentity& shared) {
  shared.update([&](CudaIdentity& identity) {
    identity.name = identity.uuid = no_driver;
    identity.totalMem = identity.attributes.totalGlobalMem = no_driver;
  });
  const auto pci = runtime_pci(context, runtime, ordinal);
  shared.update([&](CudaIdentity& identity) { identity.pciBusId = pci; });
  read_attributes(shared, [&](int attribute) -> Fact<double> {
    int value = 0;
    auto failure =
        call(context, runtime, runtime.cudaDeviceGetAttribute, &value, attribute, ordinal);
    return fact(failure, static_cast<double>(value));
  });
}

void set_failure(const SharedIdentity& shared, const Failure& failure) {
  shared.update([&](CudaIdentity& identity) {
    identity.name = identity.uuid = identity.pciBusId = identity.computeCapability = failure;
    identity.totalMem = identity.attributes.totalGlobalMem = failure;
    identity.attributes.values.fill(Fact<double>(failure));
  });
}

template <class T>
bool is_final(const Maybe<T>& value) {
  if (!value) return false;
  const Failure* failure = failure_of(*value);
  if (!failure) return true;
  return failure->name == "SYMBOL_MISSING" || failure->status == kCudaInvalidValue ||
         failure->status == kCudaNotSupported;
}

}  // namespace

void read_identity(CallContext& context, const CudaConnection& cuda, int ordinal,
                   Shared<CudaReport>& report) {
  const SharedIdentity shared{report, static_cast<size_t>(ordinal)};
  const CudaDriver* driver = cuda.driver();
  if (!driver) {
    return read_with_runtime(context, *cuda.runtime(), ordinal, cuda.driver_failure(), shared);
  }
  CUdevice device = 0;
  if (auto failure = call(context, *driver, driver->cuDeviceGet, &device, ordinal)) {
    return set_failure(shared, *failure);
  }
  read_with_driver(context, *driver, device, shared);
}

bool is_complete(const CudaIdentity& identity) {
  bool all = is_final(identity.name) && is_final(identity.uuid) && is_final(identity.pciBusId) &&
             is_final(identity.computeCapability) && is_final(identity.totalMem);
  for (const Maybe<double>& value : identity.attributes.values) all = all && is_final(value);
  return all;
}

}  // namespace umaprobe

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

// On a MIG slice _v2 answers the slice's id and the older function the whole GPU's (NVIDIA's
// documentation of both); so two different answers mean "MIG-", as NVML writes it. Not seen on
// hardware by us.
Fact<std::string> driver_uuid(CallContext& context, const CudaDriver& driver, CUdevice device) {
  CUuuid whole{}, own{};
  auto old_failure = call(context, driver, driver.cuDeviceGetUuid, &whole, device);
  auto failure = call(context, driver, driver.cuDeviceGetUuid_v2, &own, device);
  if (failure) return fact(old_failure, uuid_text("GPU", whole));
  const bool slice = !old_failure && std::memcmp(&whole, &own, sizeof own) != 0;
  return uuid_text(slice ? "MIG" : "GPU", own);
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

// One device's corner of the report.
struct Corner {
  Shared<CudaReport>& report;
  size_t ordinal;

  template <class Change>
  void update(Change change) const {
    report.update([&](CudaReport& value) { change(value.devices[ordinal].identity); });
  }
};

// `attribute` asks for one number by its CUDA number.
template <class Attribute>
void publish_attributes(const Corner& corner, Attribute attribute) {
  const Fact<double> major = attribute(kAttrComputeCapabilityMajor);
  const Fact<double> minor = attribute(kAttrComputeCapabilityMinor);
  corner.update(
      [&](CudaIdentity& identity) { identity.computeCapability = capability(major, minor); });
  for (size_t i = 0; i < kAttributeCount; ++i) {
    const Fact<double> value = attribute(kAttributes[i].number);
    corner.update([&](CudaIdentity& identity) { identity.attributes.values[i] = value; });
  }
}

void read_over_driver(CallContext& context, const CudaDriver& driver, CUdevice device,
                      const Corner& corner) {
  const auto name = driver_name(context, driver, device);
  corner.update([&](CudaIdentity& identity) { identity.name = name; });
  const auto uuid = driver_uuid(context, driver, device);
  corner.update([&](CudaIdentity& identity) { identity.uuid = uuid; });
  const auto pci = driver_pci(context, driver, device);
  corner.update([&](CudaIdentity& identity) { identity.pciBusId = pci; });
  const auto total = driver_total(context, driver, device);
  corner.update([&](CudaIdentity& identity) {
    identity.totalMem = identity.attributes.totalGlobalMem = total;
  });
  publish_attributes(corner, [&](int attribute) -> Fact<double> {
    int value = 0;
    auto failure = call(context, driver, driver.cuDeviceGetAttribute, &value, attribute, device);
    return fact(failure, static_cast<double>(value));
  });
}

void read_over_runtime(CallContext& context, const Cudart& runtime, int ordinal,
                       const Failure& no_driver, const Corner& corner) {
  corner.update([&](CudaIdentity& identity) {
    identity.name = identity.uuid = no_driver;
    identity.totalMem = identity.attributes.totalGlobalMem = no_driver;
  });
  const auto pci = runtime_pci(context, runtime, ordinal);
  corner.update([&](CudaIdentity& identity) { identity.pciBusId = pci; });
  publish_attributes(corner, [&](int attribute) -> Fact<double> {
    int value = 0;
    auto failure =
        call(context, runtime, runtime.cudaDeviceGetAttribute, &value, attribute, ordinal);
    return fact(failure, static_cast<double>(value));
  });
}

void publish_failure(const Corner& corner, const Failure& failure) {
  corner.update([&](CudaIdentity& identity) {
    identity.name = identity.uuid = identity.pciBusId = identity.computeCapability = failure;
    identity.totalMem = identity.attributes.totalGlobalMem = failure;
    identity.attributes.values.fill(Fact<double>(failure));
  });
}

template <class T>
bool settled(const Maybe<T>& value) {
  if (!value) return false;
  const Failure* failure = failure_of(*value);
  if (!failure) return true;
  return failure->name == "SYMBOL_MISSING" || failure->status == kCudaInvalidValue ||
         failure->status == kCudaNotSupported;
}

}  // namespace

void read_identity(CallContext& context, const CudaConnection& cuda, int ordinal,
                   Shared<CudaReport>& report) {
  const Corner corner{report, static_cast<size_t>(ordinal)};
  const CudaDriver* driver = cuda.driver();
  if (!driver) {
    return read_over_runtime(context, *cuda.runtime(), ordinal, cuda.driver_failure(), corner);
  }
  CUdevice device = 0;
  if (auto failure = call(context, *driver, driver->cuDeviceGet, &device, ordinal)) {
    return publish_failure(corner, *failure);
  }
  read_over_driver(context, *driver, device, corner);
}

bool complete(const CudaIdentity& identity) {
  bool all = settled(identity.name) && settled(identity.uuid) && settled(identity.pciBusId) &&
             settled(identity.computeCapability) && settled(identity.totalMem);
  for (const Maybe<double>& value : identity.attributes.values) all = all && settled(value);
  return all;
}

}  // namespace umaprobe

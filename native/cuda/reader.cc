#include "cuda/reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cuda/mem_get_info.h"

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

// Adds the facts of a device that do not change, one by one, to report.devices[ordinal]. Uses the
// driver if it is usable; the runtime knows only the attributes and the PCI id. Creates no context.
void read_facts(CallContext& context, const CudaConnection& cuda, int ordinal,
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

// Returns whether every fact is known, or known to be missing from this library: reading again is
// then pointless.
bool is_complete(const CudaIdentity& identity) {
  bool all = is_final(identity.name) && is_final(identity.uuid) && is_final(identity.pciBusId) &&
             is_final(identity.computeCapability) && is_final(identity.totalMem);
  for (const Maybe<double>& value : identity.attributes.values) all = all && is_final(value);
  return all;
}

Fact<bool> context_active(CallContext& context, const CudaConnection& cuda, int ordinal) {
  const CudaDriver* driver = cuda.driver();
  // The runtime cannot detect a context without creating one.
  if (!driver) return cuda.driver_failure();
  CUdevice device = 0;
  unsigned int flags = 0;
  int active = 0;
  auto failure = call(context, *driver, driver->cuDeviceGet, &device, ordinal);
  if (!failure) {
    failure = call(context, *driver, driver->cuDevicePrimaryCtxGetState, device, &flags, &active);
  }
  return fact(failure, active != 0);
}

// Returns cudaMemGetInfo's answer; empty if the mode does not ask for it.
Maybe<FreeAndTotal> mem_get_info_by_mode(CallContext& context, const CudaConnection& cuda,
                                         MemGetInfoMode mode, int ordinal,
                                         const Fact<bool>& active) {
  if (mode == MemGetInfoMode::kNever) return std::nullopt;
  if (mode == MemGetInfoMode::kWhereContextExists) {
    // The state of the context is not known; contextActive says why, and nothing is tried.
    if (failure_of(active) || !std::get<bool>(active)) return std::nullopt;
  }
  return mem_get_info(context, cuda, ordinal, CurrentDevice::kMayChange);
}

}  // namespace

void CudaReader::read(CallContext& context, const MachineConfig& config, MemGetInfoMode mode,
                      int known_identities, Shared<CudaReport>& report) {
  cuda_.connect_runtime(context, config);
  report.update([&](CudaReport& value) {
    value.runtime = cuda_.runtime_report();
    value.runtimeVersion = cuda_.runtime_version();
  });
  cuda_.connect_driver(context, config);
  const Fact<int> count = cuda_.device_count();
  const int devices = failure_of(count) ? 0 : std::get<int>(count);
  report.update([&](CudaReport& value) {
    value.driver = cuda_.driver_report();
    value.driverVersion = cuda_.driver_version();
    value.deviceCount = count;
    value.devices.resize(static_cast<size_t>(devices));
    for (int i = 0; i < devices; ++i) value.devices[static_cast<size_t>(i)].ordinal = i;
  });
  const auto all = [&] {
    return std::all_of(identities_.begin(), identities_.end(),
                       [](const auto& identity) { return identity.has_value(); });
  };
  identities_.resize(static_cast<size_t>(devices));
  if (!all() || known_identities != identities_number_) {
    for (int i = 0; i < devices; ++i) read_identity(context, i, report);
  }
  const int number = all() ? identities_number_ : 0;
  report.update([&](CudaReport& value) { value.identities = number; });
  for (int i = 0; i < devices; ++i) {
    Fact<bool> active = context_active(context, cuda_, i);
    report.update([&](CudaReport& value) {
      value.devices[static_cast<size_t>(i)].contextActive = std::move(active);
    });
  }

  // The memory is read last, because this call may create a context, fail or hang.
  for (int i = 0; i < devices; ++i) {
    const auto at = static_cast<size_t>(i);
    const Maybe<bool> active =
        report.read([&](const CudaReport& value) { return value.devices[at].contextActive; });
    Maybe<FreeAndTotal> info = mem_get_info_by_mode(context, cuda_, mode, i, *active);
    report.update([&](CudaReport& value) { value.devices[at].memGetInfo = std::move(info); });
  }
}

void CudaReader::read_identity(CallContext& context, int ordinal, Shared<CudaReport>& report) {
  const size_t i = static_cast<size_t>(ordinal);
  if (identities_[i]) {
    report.update([&](CudaReport& value) { value.devices[i].identity = *identities_[i]; });
    return;
  }
  read_facts(context, cuda_, ordinal, report);
  report.read([&](const CudaReport& value) {
    if (!is_complete(value.devices[i].identity)) return;
    identities_[i] = value.devices[i].identity;
    ++identities_number_;
  });
}

Fact<FreeAndTotal> CudaReader::mem_get_info(CallContext& context, const MachineConfig& config,
                                            int device) {
  cuda_.connect_any(context, config);
  return umaprobe::mem_get_info(context, cuda_, device, CurrentDevice::kMayChange);
}

}  // namespace umaprobe

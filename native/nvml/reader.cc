#include "nvml/reader.h"

#include "nvml/queries.h"

namespace umaprobe {
namespace {

using Text = int(char*, unsigned int);

constexpr std::chrono::seconds kMaxMigAge(1);

Fact<std::string> system_text(CallContext& context, const Nvml& nvml, const Symbol<Text>& symbol) {
  char text[96] = "";  // NVML_SYSTEM_*_VERSION_BUFFER_SIZE is 80
  auto failure = call(context, nvml, symbol, text, unsigned(sizeof text));
  return fact(failure, std::string(text));
}

Fact<int> cuda_version(CallContext& context, const Nvml& nvml) {
  const auto& newer = nvml.nvmlSystemGetCudaDriverVersion_v2;
  int version = 0;
  auto failure = call(context, nvml, newer ? newer : nvml.nvmlSystemGetCudaDriverVersion, &version);
  return fact(failure, version);
}

// A fact that was read before, or the failure.
void keep_or_fail(Maybe<std::string>& field, const Maybe<std::string>& before,
                  const Failure& failure) {
  const bool known = before && !failure_of(*before);
  field = known ? before : Maybe<std::string>(failure);
}

// Sets every field of a device that has no handle. NVML numbers its devices once, in nvmlInit, so
// the identity that an index had before the device was lost is still true.
void set_failure(NvmlDevice& device, const NvmlIdentity& before, const Failure& failure) {
  keep_or_fail(device.identity.name, before.name, failure);
  keep_or_fail(device.identity.uuid, before.uuid, failure);
  keep_or_fail(device.identity.pciBusId, before.pciBusId, failure);
  device.memory = failure;
  device.processes = failure;
  device.addressingMode = failure;
  device.migMode = failure;
  device.utilizationPercent = failure;
#define X(field, ...) device.field = failure;
  UMAPROBE_NVML_NUMBERS(X)
#undef X
}

}  // namespace

void NvmlReader::read(CallContext& context, const MachineConfig& config,
                      Shared<NvmlReport>& report) {
  const Nvml* nvml = connect(context, config, report);
  if (!nvml) return;
  read_versions(context, *nvml, report);

  unsigned int count = 0;
  auto failure = call(context, *nvml, nvml->nvmlDeviceGetCount_v2, &count);
  if (failure) count = 0;
  const Fact<int> answer = fact(failure, int(count));
  report.update([&](NvmlReport& value) {
    value.deviceCount = answer;
    value.devices.resize(count);
    for (unsigned int i = 0; i < count; ++i) value.devices[i].index = i;
  });
  cached_devices_.resize(count);
  for (unsigned int i = 0; i < count; ++i) read_device(context, *nvml, i, report);
}

const Nvml* NvmlReader::connect(CallContext& context, const MachineConfig& config,
                                Shared<NvmlReport>& report) {
  context.enter("dlopen libnvidia-ml");
  Fact<const Nvml*> opened = open_nvml(config);
  if (const Failure* failure = failure_of(opened)) {
    report.update([&](NvmlReport& value) { value.library.failure = *failure; });
    return nullptr;
  }
  const Nvml* nvml = std::get<const Nvml*>(opened);
  report.update([&](NvmlReport& value) { value.library.path = nvml->library.path; });
  auto failure = initialize_nvml(*nvml, context);
  if (!failure) return nvml;
  report.update([&](NvmlReport& value) { value.library.failure = std::move(failure); });
  return nullptr;
}

void NvmlReader::read_versions(CallContext& context, const Nvml& nvml, Shared<NvmlReport>& report) {
  const auto update = [&](auto& cached, auto NvmlReport::*field, auto read) {
    if (!cached || failure_of(*cached)) cached = read();
    report.update([&](NvmlReport& value) { value.*field = cached; });
  };
  update(versions_.driver, &NvmlReport::driverVersion,
         [&] { return system_text(context, nvml, nvml.nvmlSystemGetDriverVersion); });
  update(versions_.nvml, &NvmlReport::nvmlVersion,
         [&] { return system_text(context, nvml, nvml.nvmlSystemGetNVMLVersion); });
  update(versions_.cuda, &NvmlReport::cudaDriverVersion,
         [&] { return cuda_version(context, nvml); });
}

void NvmlReader::read_device(CallContext& context, const Nvml& nvml, unsigned int index,
                             Shared<NvmlReport>& report) {
  CachedDevice& cached = cached_devices_[index];
  nvmlDevice_t device = nullptr;
  if (auto failure = call(context, nvml, nvml.nvmlDeviceGetHandleByIndex_v2, index, &device)) {
    report.update(
        [&](NvmlReport& all) { set_failure(all.devices[index], cached.identity, *failure); });
    return;
  }
  if (cached.handle != device) cached = {device, {}, {}, {}};
  const auto identify = [&](auto NvmlIdentity::*field, auto read) {
    auto& fact = cached.identity.*field;
    if (!fact || failure_of(*fact)) fact = read(context, nvml, device);
    report.update([&](NvmlReport& all) { all.devices[index].identity.*field = fact; });
  };
  identify(&NvmlIdentity::name, read_name);
  identify(&NvmlIdentity::uuid, read_uuid);
  identify(&NvmlIdentity::pciBusId, read_pci_bus_id);

  const auto update = [&](auto NvmlDevice::*field, auto read) {
    auto answer = read(context, nvml, device);
    report.update([&](NvmlReport& all) { all.devices[index].*field = std::move(answer); });
  };
  update(&NvmlDevice::memory, read_memory);
  update(&NvmlDevice::processes, read_processes);
  update(&NvmlDevice::addressingMode, read_addressing_mode);
  update(&NvmlDevice::utilizationPercent, read_utilization);
#define X(field, name, signature, ...)                                                         \
  update(&NvmlDevice::field, [](CallContext& context, const Nvml& nvml, nvmlDevice_t device) { \
    unsigned int number = 0;                                                                   \
    auto failure = call(context, nvml, nvml.name, __VA_ARGS__, &number);                       \
    return fact(failure, double(number));                                                      \
  });
  UMAPROBE_NVML_NUMBERS(X)
#undef X

  // MIG mode is read last, and at most once a second: it takes 80 to 160 µs, everything else 0.3 to
  // 7 µs (H200, 580.159), and only an administrator changes it.
  if (!cached.migMode || Clock::now() - cached.migReadAt > kMaxMigAge) {
    cached.migMode = read_mig_mode(context, nvml, device);
    cached.migReadAt = Clock::now();
  }
  report.update([&](NvmlReport& all) { all.devices[index].migMode = cached.migMode; });
}

}  // namespace umaprobe

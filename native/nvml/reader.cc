#include "nvml/reader.h"

#include "nvml/queries.h"

namespace umaprobe {
namespace {

using Text = int(char*, unsigned int);

constexpr std::chrono::seconds kSettingsAge(1);

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

// A device that gave no handle: the same reason stands in every field.
void fail(NvmlDevice& device, const Failure& failure) {
  device.identity.name = device.identity.uuid = device.identity.pciBusId = failure;
  device.memory = failure;
  device.processes = failure;
  device.addressingMode = failure;
  device.migMode = failure;
  device.utilizationPercent = device.temperatureC = failure;
  device.powerMilliwatt = device.smClockMHz = failure;
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
  known_.resize(count);
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
  const auto publish = [&](auto& remembered, auto NvmlReport::*field, auto question) {
    if (!remembered || failure_of(*remembered)) remembered = question();
    report.update([&](NvmlReport& value) { value.*field = remembered; });
  };
  publish(versions_.driver, &NvmlReport::driverVersion,
          [&] { return system_text(context, nvml, nvml.nvmlSystemGetDriverVersion); });
  publish(versions_.nvml, &NvmlReport::nvmlVersion,
          [&] { return system_text(context, nvml, nvml.nvmlSystemGetNVMLVersion); });
  publish(versions_.cuda, &NvmlReport::cudaDriverVersion,
          [&] { return cuda_version(context, nvml); });
}

void NvmlReader::read_device(CallContext& context, const Nvml& nvml, unsigned int index,
                             Shared<NvmlReport>& report) {
  nvmlDevice_t device = nullptr;
  if (auto failure = call(context, nvml, nvml.nvmlDeviceGetHandleByIndex_v2, index, &device)) {
    report.update([&](NvmlReport& all) { fail(all.devices[index], *failure); });
    return;
  }
  Known& known = known_[index];
  if (known.handle != device) known = {device, {}, {}, {}};
  const auto identify = [&](auto NvmlIdentity::*field, auto question) {
    auto& remembered = known.identity.*field;
    if (!remembered || failure_of(*remembered)) remembered = question(context, nvml, device);
    report.update([&](NvmlReport& all) { all.devices[index].identity.*field = remembered; });
  };
  identify(&NvmlIdentity::name, read_name);
  identify(&NvmlIdentity::uuid, read_uuid);
  identify(&NvmlIdentity::pciBusId, read_pci_bus_id);

  const auto publish = [&](auto NvmlDevice::*field, auto question) {
    auto answer = question(context, nvml, device);
    report.update([&](NvmlReport& all) { all.devices[index].*field = std::move(answer); });
  };
  publish(&NvmlDevice::memory, read_memory);
  publish(&NvmlDevice::processes, read_processes);
  publish(&NvmlDevice::addressingMode, read_addressing_mode);
  publish(&NvmlDevice::utilizationPercent, read_utilization);
  publish(&NvmlDevice::temperatureC, read_temperature);
  publish(&NvmlDevice::powerMilliwatt, read_power);
  publish(&NvmlDevice::smClockMHz, read_sm_clock);

  // Last, and not each time: MIG mode takes 80 to 160 us where everything else takes 0.3 to 7
  // (H200, 580.159), and it is a setting that only an administrator changes.
  if (!known.migMode || Clock::now() - known.migRead > kSettingsAge) {
    known.migMode = read_mig_mode(context, nvml, device);
    known.migRead = Clock::now();
  }
  report.update([&](NvmlReport& all) { all.devices[index].migMode = known.migMode; });
}

}  // namespace umaprobe

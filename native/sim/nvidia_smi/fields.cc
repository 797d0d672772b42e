#include "sim/nvidia_smi/fields.h"

#include <sys/time.h>

#include <cstdlib>
#include <ctime>

namespace umasim::smi {
namespace {

Reading timestamp(const Gpu&) {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm parts{};
  localtime_r(&now.tv_sec, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &parts);
  return {0, format("%s.%03d", text, static_cast<int>(now.tv_usec / 1000))};
}

Reading count(const Gpu&) {
  unsigned int number = 0;
  const int status = nvmlDeviceGetCount_v2(&number);
  return {status, format("%u", number)};
}

Reading pci(const Gpu& gpu, const char* pattern, unsigned int nvmlPciInfo_t::*field) {
  nvmlPciInfo_t info{};
  const int status = nvmlDeviceGetPciInfo_v3(gpu.handle, &info);
  char text[16];
  std::snprintf(text, sizeof text, pattern, info.*field);
  return {status, text};
}

Reading not_simulated(const Gpu&) { return refused(umaprobe::kNvmlNotSupported); }

// Readings of the simulated machine.
constexpr GpuField kFields[] = {
    {"timestamp", "", "", timestamp},
    {"driver_version", "", "",
     [](const Gpu&) {
       return Reading{0, driver_version()};
     }},
    {"count", "", "", count},
    {"name", "gpu_name", "", name},
    {"serial", "gpu_serial", "", serial},
    {"uuid", "gpu_uuid", "",
     [](const Gpu& gpu) {
       return Reading{0, gpu.uuid};
     }},
    {"pci.bus_id", "gpu_bus_id", "",
     [](const Gpu& gpu) {
       return Reading{0, gpu.bus_id};
     }},
    {"pci.domain", "", "",
     [](const Gpu& gpu) { return pci(gpu, "0x%04X", &nvmlPciInfo_t::domain); }},
    {"pci.bus", "", "", [](const Gpu& gpu) { return pci(gpu, "0x%02X", &nvmlPciInfo_t::bus); }},
    {"pci.device", "", "",
     [](const Gpu& gpu) { return pci(gpu, "0x%02X", &nvmlPciInfo_t::device); }},
    {"pci.device_id", "", "",
     [](const Gpu& gpu) { return pci(gpu, "0x%08X", &nvmlPciInfo_t::pciDeviceId); }},
    {"pci.sub_device_id", "", "",
     [](const Gpu& gpu) { return pci(gpu, "0x%08X", &nvmlPciInfo_t::pciSubSystemId); }},
    {"index", "", "",
     [](const Gpu& gpu) {
       return Reading{0, format("%u", gpu.index)};
     }},
    {"vbios_version", "", "", vbios},
    {"compute_cap", "", "", compute_capability},
    {"addressing_mode", "", "", addressing_mode},
    {"persistence_mode", "", "", persistence_mode},
    {"compute_mode", "", "", compute_mode},
    {"display_mode", "", "", display_mode},
    {"display_active", "", "", display_active},
    {"power.management", "", "", power_management},
    {"ecc.mode.current", "", "", ecc_mode},
    {"ecc.mode.pending", "", "", ecc_mode},
    {"ecc.errors.corrected.volatile.total", "", "", ecc_errors},
    {"ecc.errors.corrected.aggregate.total", "", "", ecc_errors},
    {"ecc.errors.uncorrected.volatile.total", "", "", ecc_errors},
    {"ecc.errors.uncorrected.aggregate.total", "", "", ecc_errors},
    {"mig.mode.current", "", "", mig_mode},
    {"mig.mode.pending", "", "", mig_mode},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", "", pcie_generation},
    {"pcie.link.gen.max", "", "", max_pcie_generation},
    {"pcie.link.gen.gpumax", "", "", gpu_max_pcie_generation},
    {"pcie.link.width.current", "", "", pcie_width},
    {"pcie.link.width.max", "", "", max_pcie_width},
    {"memory.total", "", "MiB", memory_total},
    {"memory.reserved", "", "MiB", memory_reserved},
    {"memory.used", "", "MiB", memory_used},
    {"memory.free", "", "MiB", memory_free},
    {"utilization.gpu", "", "%", gpu_utilization},
    {"utilization.memory", "", "%", memory_utilization},
    {"utilization.encoder", "", "%", encoder_utilization},
    {"utilization.decoder", "", "%", decoder_utilization},
    {"fan.speed", "", "%", fan},
    {"pstate", "", "", performance_state},
    {"temperature.gpu", "", "", temperature},
    {"power.draw", "", "W", power_draw},
    {"power.draw.average", "", "W", power_draw},
    {"power.draw.instant", "", "W", power_draw},
    {"power.limit", "", "W", power_limit},
    {"enforced.power.limit", "", "W", enforced_power_limit},
    {"power.default_limit", "", "W", default_power_limit},
    {"power.min_limit", "", "W", min_power_limit},
    {"power.max_limit", "", "W", max_power_limit},
    {"clocks.current.graphics", "clocks.gr", "MHz", graphics_clock},
    {"clocks.current.sm", "clocks.sm", "MHz", sm_clock},
    {"clocks.current.memory", "clocks.mem", "MHz", memory_clock},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", max_graphics_clock},
    {"clocks.max.sm", "", "MHz", max_sm_clock},
    {"clocks.max.memory", "clocks.max.mem", "MHz", max_memory_clock},
    {"clocks_event_reasons.active", "clocks_throttle_reasons.active", "", clock_reasons},
    {"clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle", "", is_idle},
    {"clocks_event_reasons.applications_clocks_setting",
     "clocks_throttle_reasons.applications_clocks_setting", "", is_not_slowed},
    {"clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap", "",
     is_not_slowed},
    {"clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown", "", is_not_slowed},
    {"clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown", "",
     is_not_slowed},
    {"clocks_event_reasons.hw_power_brake_slowdown",
     "clocks_throttle_reasons.hw_power_brake_slowdown", "", is_not_slowed},
    {"clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown", "",
     is_not_slowed},
    {"clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost", "", is_not_slowed},
};

// Fields of nvidia-smi that the simulated machine does not have: the answer is [N/A] on every one.
// clang-format off
#define UMASIM_NOT_SIMULATED(X) \
  X("accounting.buffer_size", "") X("accounting.mode", "") X("c2c.mode", "")                        \
  X("clocks.applications.graphics", "MHz") X("clocks.applications.memory", "MHz")                   \
  X("clocks.current.video", "MHz") X("clocks.default_applications.graphics", "MHz")                 \
  X("clocks.default_applications.memory", "MHz") X("clocks_event_reasons.supported", "")            \
  X("clocks_event_reasons_counters.hw_power_brake_slowdown", "us")                                  \
  X("clocks_event_reasons_counters.hw_thermal_slowdown", "us")                                      \
  X("clocks_event_reasons_counters.sw_power_cap", "us")                                             \
  X("clocks_event_reasons_counters.sw_thermal_slowdown", "us")                                      \
  X("clocks_event_reasons_counters.sync_boost", "us") X("display_attached", "")                     \
  X("driver_model.current", "") X("driver_model.pending", "") X("encoder.stats.averageFps", "")     \
  X("encoder.stats.averageLatency", "") X("encoder.stats.sessionCount", "") X("fabric.state", "")   \
  X("fabric.status", "") X("gom.current", "") X("gom.pending", "") X("gpu_recovery_action", "")     \
  X("gsp.mode.current", "") X("gsp.mode.default", "") X("inforom.checksum_validation", "")          \
  X("inforom.ecc", "") X("inforom.img", "") X("inforom.oem", "") X("inforom.pwr", "")               \
  X("module.power.draw.average", "W") X("module.power.draw.instant", "W")                           \
  X("module.power.limit", "W") X("pcie.link.gen.hostmax", "") X("protected_memory.free", "MiB")     \
  X("protected_memory.total", "MiB") X("protected_memory.used", "MiB")                              \
  X("remapped_rows.correctable", "") X("remapped_rows.failure", "") X("remapped_rows.pending", "")  \
  X("remapped_rows.uncorrectable", "") X("reset_status.drain_and_reset_recommended", "")            \
  X("reset_status.reset_required", "") X("retired_pages.double_bit.count", "")                      \
  X("retired_pages.pending", "") X("retired_pages.single_bit_ecc.count", "")                        \
  X("temperature.gpu.tlimit", "") X("temperature.memory", "") X("utilization.jpeg", "%")            \
  X("utilization.ofa", "%")
// clang-format on

#define UMASIM_FIELD(name, unit) {name, "", unit, not_simulated},
constexpr GpuField kNotSimulated[] = {UMASIM_NOT_SIMULATED(UMASIM_FIELD)};

constexpr ProcessField kProcessFields[] = {
    {"timestamp", "", "", [](const Gpu& gpu, const Process&) { return timestamp(gpu); }},
    {"gpu_name", "", "", [](const Gpu& gpu, const Process&) { return name(gpu); }},
    {"gpu_bus_id", "", "",
     [](const Gpu& gpu, const Process&) {
       return Reading{0, gpu.bus_id};
     }},
    {"gpu_serial", "", "", [](const Gpu& gpu, const Process&) { return serial(gpu); }},
    {"gpu_uuid", "", "",
     [](const Gpu& gpu, const Process&) {
       return Reading{0, gpu.uuid};
     }},
    {"pid", "", "",
     [](const Gpu&, const Process& process) {
       return Reading{0, format("%u", process.pid)};
     }},
    {"process_name", "name", "",
     [](const Gpu&, const Process& process) {
       return Reading{0, process.name};
     }},
    {"used_gpu_memory", "used_memory", "MiB",
     [](const Gpu&, const Process& process) {
       if (process.bytes == umaprobe::kNvmlValueNotAvailable) {
         return refused(umaprobe::kNvmlNotSupported);
       }
       return Reading{0, format("%llu", mib(process.bytes))};
     }},
};

template <typename Field, size_t size>
const Field* find(const Field (&fields)[size], const std::string& name) {
  for (const Field& field : fields) {
    if (name == field.name || (*field.other_name != '\0' && name == field.other_name))
      return &field;
  }
  return nullptr;
}

template <typename Field, size_t size>
void list(const Field (&fields)[size], std::vector<std::string>* names) {
  for (const Field& field : fields) names->push_back(field.name);
}

}  // namespace

const GpuField* find_gpu_field(const std::string& name) {
  const GpuField* field = find(kFields, name);
  return field != nullptr ? field : find(kNotSimulated, name);
}

const ProcessField* find_process_field(const std::string& name) {
  return find(kProcessFields, name);
}

std::vector<std::string> gpu_field_names() {
  std::vector<std::string> names;
  list(kFields, &names);
  list(kNotSimulated, &names);
  return names;
}

std::vector<std::string> process_field_names() {
  std::vector<std::string> names;
  list(kProcessFields, &names);
  return names;
}

}  // namespace umasim::smi

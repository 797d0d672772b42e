// The log of nvidia-smi -q: the sections that the simulated machine has, in nvidia-smi's order.
#include <algorithm>

#include "sim/nvidia_smi/readings.h"
#include "sim/nvidia_smi/screens.h"

namespace umasim::smi {
namespace {

// The names that -d knows. The section without a name is in the whole log only.
constexpr const char* kSections[] = {"MEMORY",  "UTILIZATION", "ECC",  "TEMPERATURE",
                                     "POWER",   "CLOCK",       "PIDS", "PERFORMANCE",
                                     "COMPUTE", "ACCOUNTING",  "ALL"};

class Log {
 public:
  explicit Log(const std::vector<std::string>& sections) : sections_(sections) {}

  bool wants(const char* section) const {
    if (sections_.empty()) return true;
    const auto has = [&](const char* name) {
      return std::find(sections_.begin(), sections_.end(), name) != sections_.end();
    };
    return has(section) || has("ALL");
  }
  bool whole() const { return wants(""); }

  static std::string indent(int depth) { return std::string(size_t{4} * depth, ' '); }
  void head(int depth, const std::string& text) { add(indent(depth) + text); }
  void line(int depth, const char* key, const std::string& value) {
    constexpr int kWidth = 42;
    add(indent(depth) + format("%-*s: ", kWidth - 4 * depth, key) + value);
  }
  void add(const std::string& line) { text_ += line + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  const std::vector<std::string>& sections_;
  std::string text_;
};

void identity(Log& log, const Gpu& gpu) {
  log.line(1, "Product Name", shown(name(gpu)));
  log.line(1, "Product Brand", shown(brand(gpu)));
  log.line(1, "Product Architecture", shown(architecture(gpu)));
  log.line(1, "Display Mode", shown(display_mode(gpu)));
  log.line(1, "Display Active", shown(display_active(gpu)));
  log.line(1, "Persistence Mode", shown(persistence_mode(gpu)));
  log.line(1, "Addressing Mode", shown(addressing_mode(gpu)));
  log.head(1, "MIG Mode");
  log.line(2, "Current", shown(mig_mode(gpu)));
  log.line(2, "Pending", shown(mig_mode(gpu)));
  log.line(1, "Serial Number", shown(serial(gpu)));
  log.line(1, "GPU UUID", gpu.uuid);
  log.line(1, "Minor Number", shown(minor_number(gpu)));
  log.line(1, "VBIOS Version", shown(vbios(gpu)));
}

void pci(Log& log, const Gpu& gpu) {
  nvmlPciInfo_t info{};
  if (nvmlDeviceGetPciInfo_v3(gpu.handle, &info) != 0) return;
  log.head(1, "PCI");
  log.line(2, "Bus", format("0x%02X", info.bus));
  log.line(2, "Device", format("0x%02X", info.device));
  log.line(2, "Domain", format("0x%04X", info.domain));
  log.line(2, "Device Id", format("0x%08X", info.pciDeviceId));
  log.line(2, "Bus Id", info.busId);
  log.head(2, "GPU Link Info");
  log.head(3, "PCIe Generation");
  log.line(4, "Max", shown(max_pcie_generation(gpu)));
  log.line(4, "Current", shown(pcie_generation(gpu)));
  const auto lanes = [](Reading reading) {
    if (reading.status == 0) reading.text += "x";
    return shown(reading);
  };
  log.head(3, "Link Width");
  log.line(4, "Max", lanes(max_pcie_width(gpu)));
  log.line(4, "Current", lanes(pcie_width(gpu)));
  log.line(1, "Fan Speed", shown(fan(gpu), "%"));
}

void performance(Log& log, const Gpu& gpu) {
  log.line(1, "Performance State", shown(performance_state(gpu)));
  log.head(1, "Clocks Event Reasons");
  log.line(2, "Idle", shown(is_idle(gpu)));
  for (const char* reason : {"Applications Clocks Setting", "SW Power Cap", "HW Slowdown"}) {
    log.line(2, reason, shown(is_not_slowed(gpu)));
  }
  log.line(3, "HW Thermal Slowdown", shown(is_not_slowed(gpu)));
  log.line(3, "HW Power Brake Slowdown", shown(is_not_slowed(gpu)));
  log.line(2, "Sync Boost", shown(is_not_slowed(gpu)));
  log.line(2, "SW Thermal Slowdown", shown(is_not_slowed(gpu)));
}

void memory(Log& log, const Gpu& gpu) {
  log.head(1, "FB Memory Usage");
  log.line(2, "Total", shown(memory_total(gpu), "MiB"));
  log.line(2, "Reserved", shown(memory_reserved(gpu), "MiB"));
  log.line(2, "Used", shown(memory_used(gpu), "MiB"));
  log.line(2, "Free", shown(memory_free(gpu), "MiB"));
  log.head(1, "BAR1 Memory Usage");
  log.line(2, "Total", shown(bar1_total(gpu), "MiB"));
  log.line(2, "Used", shown(bar1_used(gpu), "MiB"));
  log.line(2, "Free", shown(bar1_free(gpu), "MiB"));
}

void utilization(Log& log, const Gpu& gpu) {
  log.head(1, "Utilization");
  log.line(2, "GPU", shown(gpu_utilization(gpu), "%"));
  log.line(2, "Memory", shown(memory_utilization(gpu), "%"));
  log.line(2, "Encoder", shown(encoder_utilization(gpu), "%"));
  log.line(2, "Decoder", shown(decoder_utilization(gpu), "%"));
}

void ecc(Log& log, const Gpu& gpu) {
  log.head(1, "ECC Mode");
  log.line(2, "Current", shown(ecc_mode(gpu)));
  log.line(2, "Pending", shown(ecc_mode(gpu)));
}

void temperatures(Log& log, const Gpu& gpu) {
  log.head(1, "Temperature");
  log.line(2, "GPU Current Temp", shown(temperature(gpu), "C"));
  log.line(2, "GPU Shutdown Temp", shown(shutdown_temperature(gpu), "C"));
  log.line(2, "GPU Slowdown Temp", shown(slowdown_temperature(gpu), "C"));
  log.line(2, "GPU Max Operating Temp", shown(max_temperature(gpu), "C"));
}

void power(Log& log, const Gpu& gpu) {
  log.head(1, "GPU Power Readings");
  log.line(2, "Average Power Draw", shown(power_draw(gpu), "W"));
  log.line(2, "Instantaneous Power Draw", shown(power_draw(gpu), "W"));
  log.line(2, "Current Power Limit", shown(enforced_power_limit(gpu), "W"));
  log.line(2, "Requested Power Limit", shown(power_limit(gpu), "W"));
  log.line(2, "Default Power Limit", shown(default_power_limit(gpu), "W"));
  log.line(2, "Min Power Limit", shown(min_power_limit(gpu), "W"));
  log.line(2, "Max Power Limit", shown(max_power_limit(gpu), "W"));
}

void clocks(Log& log, const Gpu& gpu) {
  log.head(1, "Clocks");
  log.line(2, "Graphics", shown(graphics_clock(gpu), "MHz"));
  log.line(2, "SM", shown(sm_clock(gpu), "MHz"));
  log.line(2, "Memory", shown(memory_clock(gpu), "MHz"));
  log.head(1, "Max Clocks");
  log.line(2, "Graphics", shown(max_graphics_clock(gpu), "MHz"));
  log.line(2, "SM", shown(max_sm_clock(gpu), "MHz"));
  log.line(2, "Memory", shown(max_memory_clock(gpu), "MHz"));
}

void processes(Log& log, const Gpu& gpu) {
  const std::vector<Process> all = processes_of(gpu);
  if (all.empty()) return log.line(1, "Processes", "None");
  log.head(1, "Processes");
  for (const Process& process : all) {
    log.line(2, "GPU instance ID", "N/A");
    log.line(2, "Compute instance ID", "N/A");
    log.line(2, "Process ID", format("%u", process.pid));
    log.line(3, "Type", process.type);
    log.line(3, "Name", process.name);
    log.line(3, "Used GPU Memory",
             process.bytes == umaprobe::kNvmlValueNotAvailable
                 ? "N/A"
                 : format("%llu MiB", mib(process.bytes)));
  }
}

}  // namespace

bool is_section(const std::string& name) {
  return std::find(std::begin(kSections), std::end(kSections), name) != std::end(kSections);
}

std::string section_names() {
  std::string names;
  for (const char* name : kSections) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

std::string log(const std::vector<Gpu>& gpus, const std::vector<std::string>& sections) {
  Log log(sections);
  log.add("\n==============NVSMI LOG==============\n");
  log.line(0, "Timestamp", date());
  log.line(0, "Driver Version", driver_version());
  log.line(0, "CUDA Version", cuda_version());
  log.add("");
  unsigned int count = 0;
  nvmlDeviceGetCount_v2(&count);
  log.line(0, "Attached GPUs", format("%u", count));
  for (const Gpu& gpu : gpus) {
    log.add("GPU " + gpu.bus_id);
    if (log.whole()) identity(log, gpu);
    if (log.whole()) pci(log, gpu);
    if (log.wants("PERFORMANCE")) performance(log, gpu);
    if (log.wants("MEMORY")) memory(log, gpu);
    if (log.wants("COMPUTE")) log.line(1, "Compute Mode", shown(compute_mode(gpu)));
    if (log.wants("UTILIZATION")) utilization(log, gpu);
    if (log.wants("ACCOUNTING")) log.line(1, "Accounting Mode", "N/A");
    if (log.wants("ECC")) ecc(log, gpu);
    if (log.wants("TEMPERATURE")) temperatures(log, gpu);
    if (log.wants("POWER")) power(log, gpu);
    if (log.wants("CLOCK")) clocks(log, gpu);
    if (log.wants("PIDS")) processes(log, gpu);
    log.add("");
  }
  return log.take();
}

}  // namespace umasim::smi

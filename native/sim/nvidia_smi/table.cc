// The table that nvidia-smi prints without arguments.
#include "sim/nvidia_smi/readings.h"
#include "sim/nvidia_smi/screens.h"

namespace umasim::smi {
namespace {

constexpr char kRule[] =
    "+-----------------------------------------------------------------------------------------+\n";
constexpr char kColumns[] =
    "+-----------------------------------------+------------------------+----------------------+\n";

std::string watt(const Reading& reading) {
  if (reading.status != 0) return shown(reading);
  return reading.text.substr(0, reading.text.find('.')) + "W";
}

std::string memory(const Gpu& gpu) {
  const Reading used = memory_used(gpu), total = memory_total(gpu);
  if (used.status == umaprobe::kNvmlNotSupported) return " Not Supported         ";
  if (used.status != 0) return format(" %-22s", shown(used).c_str());
  return format(" %7sMiB / %6sMiB", used.text.c_str(), total.text.c_str());
}

std::string percent(const Reading& reading) {
  return reading.status == 0 ? reading.text + "%" : shown(reading);
}

// A name that is too long for its column loses its end.
std::string short_name(const Gpu& gpu) {
  const std::string text = shown(name(gpu));
  return text.size() <= 27 ? text : text.substr(0, 24) + "...";
}

std::string on(const Reading& reading) {
  if (reading.status != 0) return shown(reading);
  return reading.text == "Enabled" ? "On" : "Off";
}

std::string rows(const Gpu& gpu) {
  const Reading cap = enforced_power_limit(gpu), celsius = temperature(gpu);
  const std::string limit = cap.status == 0 ? watt(cap) : shown(cap) + " ";
  return format("| %3u  %-31s%-3s | %18s %3s | %20s |\n", gpu.index, short_name(gpu).c_str(),
                on(persistence_mode(gpu)).c_str(), gpu.bus_id.c_str(),
                on(display_active(gpu)).c_str(), shown(ecc_errors(gpu)).c_str()) +
         format("|%4s %5s %5s %15s / %5s |%-23s | %7s %12s |\n", percent(fan(gpu)).c_str(),
                celsius.status == 0 ? (celsius.text + "C").c_str() : "N/A",
                shown(performance_state(gpu)).c_str(), watt(power_draw(gpu)).c_str(), limit.c_str(),
                memory(gpu).c_str(), percent(gpu_utilization(gpu)).c_str(),
                shown(compute_mode(gpu)).c_str()) +
         format("|%41s|%24s| %20s |\n", "", "", shown(mig_mode(gpu)).c_str());
}

// A name that is too long for its column loses its beginning.
std::string short_name(const Process& process) {
  const std::string& name = process.name;
  return name.size() <= 32 ? name : "..." + name.substr(name.size() - 29);
}

std::string row(const Gpu& gpu, const Process& process) {
  const std::string used = process.bytes == umaprobe::kNvmlValueNotAvailable
                               ? "N/A"
                               : format("%lluMiB", mib(process.bytes));
  return format("| %4u   N/A  N/A %15u %6s   %-32s%14s |\n", gpu.index, process.pid,
                process.type.c_str(), short_name(process).c_str(), used.c_str());
}

}  // namespace

std::string table(const std::vector<Gpu>& gpus) {
  const std::string driver = driver_version();
  std::string out = date() + "       \n" + kRule;
  out += format("| NVIDIA-SMI %-23sDriver Version: %-15sCUDA Version: %-9s|\n", driver.c_str(),
                driver.c_str(), cuda_version().c_str());
  out += kColumns;
  out +=
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|\n"
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|\n"
      "|                                         |                        |               MIG M. "
      "|\n"
      "|=========================================+========================+======================|"
      "\n";
  std::string processes;
  for (const Gpu& gpu : gpus) {
    out += rows(gpu) + kColumns;
    for (const Process& process : processes_of(gpu)) processes += row(gpu, process);
  }
  out += std::string("\n") + kRule;
  out +=
      "| Processes:                                                                              "
      "|\n"
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory "
      "|\n"
      "|        ID   ID                                                               Usage      "
      "|\n"
      "|=========================================================================================|"
      "\n";
  out += processes.empty() ? format("|  %-87s|\n", "No running processes found") : processes;
  return out + kRule;
}

}  // namespace umasim::smi

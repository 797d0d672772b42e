// The lines of --query-gpu and --query-compute-apps, and those of -L.
#include <ctime>

#include "sim/nvidia_smi/fields.h"
#include "sim/nvidia_smi/screens.h"

namespace umasim::smi {
namespace {

// A refusal stands in brackets, so that no reader takes it for a value.
std::string cell(const Reading& reading, const char* unit) {
  return reading.status == 0 ? shown(reading, unit) : "[" + shown(reading) + "]";
}

// Returns a line; `column(name)` is its text for a field.
template <typename Column>
std::string line(const Csv& csv, Column column) {
  std::string text;
  for (const std::string& name : csv.fields) text += (text.empty() ? "" : ", ") + column(name);
  return text + "\n";
}

template <typename Field>
std::string heading(const Field& field) {
  return *field.unit == '\0' ? field.name : format("%s [%s]", field.name, field.unit);
}

}  // namespace

std::string gpu_csv(const std::vector<Gpu>& gpus, const Csv& csv) {
  std::string out;
  if (csv.header) {
    out += line(csv, [](const std::string& name) { return heading(*find_gpu_field(name)); });
  }
  for (const Gpu& gpu : gpus) {
    out += line(csv, [&](const std::string& name) {
      const GpuField& field = *find_gpu_field(name);
      return cell(field.read(gpu), csv.units ? field.unit : "");
    });
  }
  return out;
}

std::string process_csv(const std::vector<Gpu>& gpus, const Csv& csv) {
  std::string out;
  if (csv.header) {
    out += line(csv, [](const std::string& name) { return heading(*find_process_field(name)); });
  }
  for (const Gpu& gpu : gpus) {
    for (const Process& process : processes_of(gpu)) {
      if (process.type == "G") continue;
      out += line(csv, [&](const std::string& name) {
        const ProcessField& field = *find_process_field(name);
        return cell(field.read(gpu, process), csv.units ? field.unit : "");
      });
    }
  }
  return out;
}

std::string gpu_list(const std::vector<Gpu>& gpus) {
  std::string out;
  for (const Gpu& gpu : gpus) {
    out += format("GPU %u: %s (UUID: %s)\n", gpu.index, shown(name(gpu)).c_str(), gpu.uuid.c_str());
  }
  return out;
}

std::string date() {
  const time_t now = time(nullptr);
  tm parts{};
  localtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
  return text;
}

}  // namespace umasim::smi

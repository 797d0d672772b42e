#include "sim/nvidia_smi/gpu.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "sim/gpu/session.h"

namespace umasim::smi {
namespace {

using List = nvmlReturn_t (*)(nvmlDevice_t, unsigned int*, nvmlProcessInfo_t*);

std::string name_of(unsigned int pid) {
  char name[512] = "";
  return nvmlSystemGetProcessName(pid, name, sizeof name) == 0 ? name : "[Not Found]";
}

// Adds the processes of a list to those of earlier lists.
void add(const Gpu& gpu, List list, const char* type, std::vector<Process>* all) {
  unsigned int count = 0;
  std::vector<nvmlProcessInfo_t> infos;
  // More processes may begin between the two calls.
  while (list(gpu.handle, &count, infos.data()) == umaprobe::kNvmlInsufficientSize) {
    count += 8;
    infos.resize(count);
  }
  for (unsigned int i = 0; i < std::min<size_t>(count, infos.size()); i++) {
    const auto same = std::find_if(all->begin(), all->end(),
                                   [&](const Process& one) { return one.pid == infos[i].pid; });
    if (same != all->end()) {
      same->type = "C+G";
      same->bytes += infos[i].usedGpuMemory;
    } else {
      all->push_back({infos[i].pid, type, name_of(infos[i].pid), infos[i].usedGpuMemory});
    }
  }
}

using Text = nvmlReturn_t (*)(char*, unsigned int);

std::string version(Text function) {
  char text[80] = "";
  return function(text, sizeof text) == 0 ? text : "N/A";
}

}  // namespace

int list_gpus(std::vector<Gpu>* gpus) {
  unsigned int count = 0;
  const int status = nvmlDeviceGetCount_v2(&count);
  for (unsigned int i = 0; status == 0 && i < count; i++) {
    const Device& facts = session()->state->machine.devices[i];
    Gpu gpu{i, 0, nullptr, facts.pci_bus_id, facts.uuid};
    gpu.status = nvmlDeviceGetHandleByIndex_v2(i, &gpu.handle);
    nvmlPciInfo_t pci;
    if (gpu.status == 0 && nvmlDeviceGetPciInfo_v3(gpu.handle, &pci) == 0) gpu.bus_id = pci.busId;
    gpus->push_back(gpu);
  }
  return status;
}

std::vector<Process> processes_of(const Gpu& gpu) {
  std::vector<Process> all;
  add(gpu, nvmlDeviceGetComputeRunningProcesses_v3, "C", &all);
  add(gpu, nvmlDeviceGetGraphicsRunningProcesses_v3, "G", &all);
  std::sort(all.begin(), all.end(),
            [](const Process& a, const Process& b) { return a.pid < b.pid; });
  return all;
}

std::string driver_version() { return version(nvmlSystemGetDriverVersion); }

std::string nvml_version() { return version(nvmlSystemGetNVMLVersion); }

std::string cuda_version() {
  int version = 0;
  if (nvmlSystemGetCudaDriverVersion_v2(&version) != 0) return "Not Found";
  return format("%d.%d", version / 1000, version % 1000 / 10);
}

std::string format(const char* pattern, ...) {
  char text[512];
  va_list values;
  va_start(values, pattern);
  std::vsnprintf(text, sizeof text, pattern, values);
  va_end(values);
  return text;
}

}  // namespace umasim::smi

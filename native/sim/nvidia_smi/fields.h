// The fields of --query-gpu and --query-compute-apps.
#pragma once
#include <string>
#include <vector>

#include "sim/nvidia_smi/readings.h"

namespace umasim::smi {

struct GpuField {
  const char* name;
  const char* other_name;  // an older or shorter one; "" for none
  const char* unit;        // "" for none
  Reading (*read)(const Gpu& gpu);
};

struct ProcessField {
  const char* name;
  const char* other_name;
  const char* unit;
  Reading (*read)(const Gpu& gpu, const Process& process);
};

// Null: there is no such field.
const GpuField* find_gpu_field(const std::string& name);
const ProcessField* find_process_field(const std::string& name);

// The names, as --help-query-gpu and --help-query-compute-apps list them.
std::vector<std::string> gpu_field_names();
std::vector<std::string> process_field_names();

}  // namespace umasim::smi

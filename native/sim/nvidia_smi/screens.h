// The output of the simulated nvidia-smi: the table, the log of -q, and lists. The layout is that
// of driver 580, as in published output of GB10 machines.
#pragma once
#include <string>
#include <vector>

#include "sim/nvidia_smi/gpu.h"

namespace umasim::smi {

std::string table(const std::vector<Gpu>& gpus);

// `sections`: the sections of -d, such as MEMORY; none: all.
std::string log(const std::vector<Gpu>& gpus, const std::vector<std::string>& sections);
// Returns whether -d knows the section.
bool is_section(const std::string& name);
std::string section_names();

std::string gpu_list(const std::vector<Gpu>& gpus);

struct Csv {
  std::vector<std::string> fields;  // all of them exist
  bool header, units;
};
std::string gpu_csv(const std::vector<Gpu>& gpus, const Csv& csv);
std::string process_csv(const std::vector<Gpu>& gpus, const Csv& csv);

// The date as in the first line of the table.
std::string date();

}  // namespace umasim::smi

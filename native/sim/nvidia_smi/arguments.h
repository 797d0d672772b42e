// The command line of the simulated nvidia-smi.
#pragma once
#include <string>
#include <vector>

#include "sim/nvidia_smi/screens.h"

namespace umasim::smi {

enum class Mode {
  kTable,
  kLog,
  kList,
  kGpuCsv,
  kProcessCsv,
  kVersion,
  kHelp,
  kGpuFields,
  kProcessFields
};

struct Arguments {
  Mode mode = Mode::kTable;
  std::vector<std::string> gpus;      // arguments of -i: indices, UUIDs, bus ids; none: all
  std::vector<std::string> sections;  // arguments of -d
  Csv csv{{}, true, true};
  long loop_ms = 0;  // 0: once
};

// Returns an empty text, or what is wrong with the arguments, for stdout, as nvidia-smi says it.
std::string parse(int count, char** values, Arguments* out);

std::vector<std::string> split(const std::string& list);

}  // namespace umasim::smi

#include "sim/nvidia_smi/arguments.h"

#include <algorithm>
#include <cstdlib>

#include "sim/nvidia_smi/fields.h"

namespace umasim::smi {
namespace {

constexpr char kInvalid[] =
    "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n";

enum class Takes { kNothing, kValue, kMaybeValue };

struct Option {
  const char* name;
  const char* short_name;
  Takes takes;
};

constexpr Option kOptions[] = {
    {"--help", "-h", Takes::kNothing},
    {"--version", "", Takes::kNothing},
    {"--list-gpus", "-L", Takes::kNothing},
    {"--query", "-q", Takes::kNothing},
    {"--display", "-d", Takes::kValue},
    {"--id", "-i", Takes::kValue},
    {"--loop", "-l", Takes::kMaybeValue},
    {"--loop-ms", "-lms", Takes::kMaybeValue},
    {"--query-gpu", "", Takes::kValue},
    {"--query-compute-apps", "", Takes::kValue},
    {"--format", "", Takes::kValue},
    {"--help-query-gpu", "", Takes::kNothing},
    {"--help-query-compute-apps", "", Takes::kNothing},
};

const Option* find(const std::string& name) {
  for (const Option& option : kOptions) {
    if (name == option.name || (*option.short_name != '\0' && name == option.short_name)) {
      return &option;
    }
  }
  return nullptr;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// The time between two rounds; -1: not one.
long interval_ms(const std::string& text, long unit_ms) {
  constexpr long kDefault = 5;  // seconds
  if (text.empty()) return kDefault * 1000;
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  constexpr long kMost = 86400000;
  return *end == '\0' && value > 0 && value <= kMost / unit_ms ? value * unit_ms : -1;
}

std::string set_fields(const std::string& list, Mode mode, Arguments* out) {
  if (out->mode != Mode::kTable) return kInvalid;
  out->mode = mode;
  out->csv.fields = split(list);
  for (const std::string& field : out->csv.fields) {
    const bool known = mode == Mode::kGpuCsv ? find_gpu_field(field) != nullptr
                                             : find_process_field(field) != nullptr;
    if (!known) return "Field \"" + field + "\" is not a valid field to query.\n\n";
  }
  return out->csv.fields.empty() ? kInvalid : "";
}

// Returns whether the format is simulated: csv, with or without heading and units.
bool set_format(const std::string& list, Csv* csv) {
  bool is_csv = false;
  for (const std::string& word : split(list)) {
    if (word == "csv") {
      is_csv = true;
    } else if (word == "noheader") {
      csv->header = false;
    } else if (word == "nounits") {
      csv->units = false;
    } else {
      return false;
    }
  }
  return is_csv;
}

std::string set_mode(Mode mode, Arguments* out) {
  if (out->mode != Mode::kTable && out->mode != mode) return kInvalid;
  out->mode = mode;
  return "";
}

std::string apply(const std::string& name, const std::string& value, Arguments* out,
                  bool* has_format) {
  if (name == "--help") return set_mode(Mode::kHelp, out);
  if (name == "--version") return set_mode(Mode::kVersion, out);
  if (name == "--list-gpus") return set_mode(Mode::kList, out);
  if (name == "--query") return set_mode(Mode::kLog, out);
  if (name == "--help-query-gpu") return set_mode(Mode::kGpuFields, out);
  if (name == "--help-query-compute-apps") return set_mode(Mode::kProcessFields, out);
  if (name == "--query-gpu") return set_fields(value, Mode::kGpuCsv, out);
  if (name == "--query-compute-apps") return set_fields(value, Mode::kProcessCsv, out);
  if (name == "--id") {
    out->gpus = split(value);
    return out->gpus.empty() ? kInvalid : "";
  }
  if (name == "--display") {
    for (const std::string& section : split(upper(value))) {
      if (!is_section(section)) {
        return "\"" + value + "\" is not a section that is simulated: " + section_names() + ".\n";
      }
      out->sections.push_back(section);
    }
    return "";
  }
  if (name == "--format") {
    *has_format = true;
    return set_format(value, &out->csv) ? "" : kInvalid;
  }
  out->loop_ms = interval_ms(value, name == "--loop" ? 1000 : 1);
  return out->loop_ms < 0 ? "\"" + value + "\" is not a valid interval.\n" : "";
}

}  // namespace

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string part = list.substr(at, end - at);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty()) parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

std::string parse(int count, char** values, Arguments* out) {
  bool has_format = false;
  for (int i = 1; i < count; i++) {
    const std::string word = values[i];
    const size_t equals = word.find('=');
    const Option* option = find(word.substr(0, equals));
    if (option == nullptr) {
      return "Option \"" + word +
             "\" is not recognized, or not simulated. Please run 'nvidia-smi -h'.\n";
    }
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool follows = equals == std::string::npos && i + 1 < count && values[i + 1][0] != '-';
    if (option->takes == Takes::kNothing && equals != std::string::npos) return kInvalid;
    if (option->takes != Takes::kNothing && follows) value = values[++i];
    if (option->takes == Takes::kValue && value.empty()) return kInvalid;
    std::string problem = apply(option->name, value, out, &has_format);
    if (!problem.empty()) return problem;
  }
  const bool is_csv = out->mode == Mode::kGpuCsv || out->mode == Mode::kProcessCsv;
  const bool needs_log = !out->sections.empty() && out->mode != Mode::kLog;
  return is_csv != has_format || needs_log ? kInvalid : "";
}

}  // namespace umasim::smi

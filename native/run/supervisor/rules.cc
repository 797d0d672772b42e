#include "run/supervisor/rules.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/given.h"

namespace umaprobe {
namespace {

constexpr double kMs = 1e-3, kDay = 86'400;  // seconds

#define RULE(name, value, least, most) {#name, &Rules::name, 1, least, most},
constexpr Given<Rules> kRules[] = {
#include "run/supervisor/rule_list.h"
};
#undef RULE

// Returns what is wrong with a line "name number"; empty: nothing.
std::string take_rule(const std::string& line, Rules& rules) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string name = line.substr(0, space);
  const std::string value = line.substr(std::min(space + 1, line.size()));
  std::string wrong;
  if (!store(kRules, name, value, rules, wrong)) return "\"" + name + "\" is not a rule";
  return wrong.empty() ? "" : name + " " + value + ": " + wrong;
}

}  // namespace

std::string read_rules(const std::string& path, Rules& rules) {
  std::ifstream file(path);
  std::string wrong;
  size_t count = 0;
  for (std::string line; wrong.empty() && std::getline(file, line); ++count)
    wrong = take_rule(line, rules);
  if (!wrong.empty()) return path + ":" + std::to_string(count) + ": " + wrong;
  return file.is_open() && !file.bad() ? "" : "--rules=" + path + ": the file cannot be read";
}

}  // namespace umaprobe

// /proc/meminfo: every slot is missing or an exact number, a parser written in another way agrees,
// and what was read survives being written and read again.
#include "host/meminfo.h"

#include <algorithm>
#include <map>

#include "check.h"

namespace {

constexpr double kUnit = 1024;
constexpr double kMostPages = 9007199254740992.0 / kUnit;
using Slots = std::vector<double>;

Slots parse(std::string_view text) {
  Slots slots(umaprobe::kMeminfoFields);
  umaprobe::parse_meminfo(text, slots.data());
  return slots;
}

bool is_count(const std::string& key) { return key.rfind("HugePages_", 0) == 0; }

bool is_part_of_total(const std::string& key) {
  const char* const others[] = {"MemTotal",  "VmallocUsed", "Committed_AS", "Zswap",
                                "SwapTotal", "SwapFree",    "Hugepagesize"};
  return !is_count(key) && std::find(std::begin(others), std::end(others), key) == std::end(others);
}

// The reference: "Key:", spaces, a number, " kB" unless it is a count. Two lines of one key are
// none.
std::map<std::string, double> reference(std::string_view text) {
  std::map<std::string, double> found;
  std::vector<std::string> lines = fuzz::split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == std::string::npos) continue;
    const std::string key = lines[i].substr(0, colon);
    std::string value = lines[i].substr(colon + 1);
    value.erase(0, std::min(value.find_first_not_of(' '), value.size()));
    double number = -1;
    const bool has_unit = value.size() > 3 && value.substr(value.size() - 3) == " kB";
    if (is_count(key)) {
      // A count has no unit that would show that it is whole.
      if (i + 1 < lines.size()) number = fuzz::whole_number(value);
      if (number > kMostPages) number = -1;
    } else if (has_unit) {
      number = fuzz::whole_number(value.substr(0, value.size() - 3));
      number = number < 0 || number * kUnit > 9007199254740992.0 ? -1 : number * kUnit;
    }
    found[key] = found.count(key) != 0 ? -1 : number;
  }
  for (auto& [key, number] : found) {
    const auto total = found.find("MemTotal");
    if (is_part_of_total(key) && total != found.end() && total->second >= 0 &&
        number > total->second) {
      number = -1;
    }
  }
  return found;
}

std::string written(const Slots& slots) {
  std::string text;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (std::isnan(slots[i])) continue;
    const std::string key(umaprobe::kMeminfo[i].key);
    const double number = is_count(key) ? slots[i] : slots[i] / kUnit;
    text += key + ": " + std::to_string(static_cast<uint64_t>(number)) +
            (is_count(key) ? "\n" : " kB\n");
  }
  return text;
}

bool same(const Slots& one, const Slots& other) {
  return std::equal(one.begin(), one.end(), other.begin(),
                    [](double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Exact text(data, size);
  const Slots slots = parse(text.view());
  auto expected = reference(text.view());
  for (size_t i = 0; i < slots.size(); ++i) {
    PROPERTY(std::isnan(slots[i]) || fuzz::is_exact(slots[i]));
    const auto found = expected.find(std::string(umaprobe::kMeminfo[i].key));
    const double other = found == expected.end() ? -1 : found->second;
    PROPERTY(other < 0 ? std::isnan(slots[i]) : slots[i] == other);
  }
  PROPERTY(same(parse(written(slots)), slots));
  return 0;
}

// /proc/pressure/memory as the guards read it, and the prediction that they make of a row of
// readings.
#include "host/pressure.h"

#include <cstring>
#include <optional>

#include "check.h"

namespace {

// "0.12": digits, and a point only between digits. Empty for anything else and above 100.
std::optional<double> percent(const std::string& text) {
  const auto parts = fuzz::split(text, '.');
  if (parts.size() > 2) return std::nullopt;
  for (const std::string& part : parts) {
    if (fuzz::whole_number(part) < 0) return std::nullopt;
  }
  const double value = std::strtod(text.c_str(), nullptr);
  if (value > 100) return std::nullopt;
  return value;
}

std::string value_of(const std::vector<std::string>& words, const std::string& key) {
  for (const std::string& word : words) {
    if (word.rfind(key, 0) == 0) return word.substr(key.size());
  }
  return "";
}

std::optional<umaprobe::PressureLine> reference(std::string_view text, const char* name) {
  for (const std::string& line : fuzz::split(text, '\n')) {
    if (line.rfind(name, 0) != 0) continue;
    const auto words = fuzz::split(line.substr(5), ' ');
    const auto avg10 = percent(value_of(words, "avg10="));
    const double total = fuzz::whole_number(value_of(words, "total="));
    if (!avg10 || total < 0) return std::nullopt;
    return umaprobe::PressureLine{*avg10, total};
  }
  return std::nullopt;
}

// Each reading, one every 100 ms, moves the prediction; it stays a percentage.
void check_live(std::string_view text) {
  umaprobe::LivePressure live;
  double now = 0, most = 0;
  for (const std::string& line : fuzz::split(text, '\n')) {
    const auto reading = umaprobe::parse_pressure(line).full;
    if (!reading) continue;
    most = std::max(most, reading->avg10);
    const double predicted = live.add(now, *reading);
    PROPERTY(std::isfinite(predicted));
    PROPERTY(predicted >= reading->avg10 && predicted <= std::max(most, 100.0));
    now += 0.1;
  }
}

void check_line(const std::optional<umaprobe::PressureLine>& parsed,
                const std::optional<umaprobe::PressureLine>& expected) {
  PROPERTY(parsed.has_value() == expected.has_value());
  if (!parsed) return;
  PROPERTY(fuzz::is_exact(parsed->total) && parsed->total == expected->total);
  PROPERTY(parsed->avg10 >= 0 && parsed->avg10 <= 100);
  PROPERTY(std::fabs(parsed->avg10 - expected->avg10) < 1e-9);
  char line[128];
  std::snprintf(line, sizeof line, "full avg10=%.2f avg60=0.00 avg300=0.00 total=%.0f\n",
                parsed->avg10, parsed->total);
  const auto again = umaprobe::parse_pressure(line).full;
  PROPERTY(again && again->total == parsed->total);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fuzz::Exact text(data, size);
  const umaprobe::Pressure parsed = umaprobe::parse_pressure(text.view());
  check_line(parsed.some, reference(text.view(), "some "));
  check_line(parsed.full, reference(text.view(), "full "));
  check_live(text.view());
  return 0;
}

#include "record/pressure_totals.h"

#include "base/digits.h"

namespace umaprobe {

PressureTotals parse_pressure_totals(std::string_view text) {
  PressureTotals totals;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const bool some = take_prefix(line, "some ");
    if (!some && !take_prefix(line, "full ")) continue;
    const size_t at = line.find("total=");
    if (at == std::string_view::npos) continue;
    std::string_view digits = line.substr(at + 6);
    const auto value = take_digits(digits, 10, kMaxExactInteger);
    if (!value || !digits.empty()) continue;
    (some ? totals.some_us : totals.full_us) = static_cast<int64_t>(*value);
  }
  return totals;
}

PressureTotals read_pressure_totals(Host& host) {
  char buffer[512];
  const long length = host.reread("/proc/pressure/memory", buffer, sizeof buffer);
  return length <= 0 ? PressureTotals{}
                     : parse_pressure_totals({buffer, static_cast<size_t>(length)});
}

}  // namespace umaprobe

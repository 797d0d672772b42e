#include "host/meminfo.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace umaprobe {
namespace {

// A double is exact up to 2^53, more than the bytes of any machine.
double parse_number(std::string_view text, size_t& position) {
  double value = 0;
  for (; position < text.size() && text[position] >= '0' && text[position] <= '9'; ++position) {
    value = value * 10 + (text[position] - '0');
  }
  return value;
}

// Parses "   123456 kB" or "   0". NaN if there is no number.
double parse_value(std::string_view text) {
  size_t position = std::min(text.find_first_not_of(' '), text.size());
  const size_t digits = position;
  const double number = parse_number(text, position);
  if (position == digits) return std::nan("");
  return text.substr(position, 3) == " kB" ? number * 1024 : number;
}

}  // namespace

void parse_meminfo(std::string_view text, double* out) {
  std::fill_n(out, kMeminfoFields, std::nan(""));
  size_t expected = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));

    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    // Starts at the row after the last hit, which usually matches: both orders are similar.
    for (size_t step = 0; step < kMeminfoFields; ++step) {
      const size_t row = (expected + step) % kMeminfoFields;
      if (kMeminfo[row].key != key) continue;
      out[row] = parse_value(line.substr(colon + 1));
      expected = row + 1;
      break;
    }
  }
}

std::optional<Failure> read_meminfo(Host& host, double* out) {
  // About 1.5 KiB on kernels up to 7.0.
  char buffer[8192];
  const long length = host.read_meminfo(buffer, sizeof buffer);
  if (length < 0) return read_failure(host, "/proc/meminfo", static_cast<int>(-length));
  parse_meminfo({buffer, static_cast<size_t>(length)}, out);
  if (!std::isnan(out[0])) return std::nullopt;
  return Failure{"kernel", "read /proc/meminfo", std::nullopt, "NO_MEMTOTAL",
                 "/proc/meminfo has no MemTotal line"};
}

}  // namespace umaprobe

#include "host/meminfo.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/digits.h"

namespace umaprobe {
namespace {

constexpr size_t kTotal = meminfo_slot("total");

// The largest number of kB or of pages. A double, and so JavaScript, is exact up to 2^53 bytes:
// more than any machine has.
constexpr uint64_t kMost = kMaxExactInteger / 1024;
// Least plausible MemTotal: Linux with Node needs more.
constexpr double kLeastTotal = 16.0 * (1 << 20);

// The part of a line after the colon: "   123456 kB", or "   12" for a count. `complete`: the line
// ends with a newline. A file that is cut off may end inside a number, which only the missing unit
// or newline tells.
double parse_value(std::string_view text, MeminfoKind kind, bool complete) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (kind == MeminfoKind::kCount) {
    const auto count = take_digits(text, 10, kMost);
    return count && text.empty() && complete ? static_cast<double>(*count) : std::nan("");
  }
  const auto kb = take_digits(text, 10, kMost);
  return kb && text == " kB" ? static_cast<double>(*kb * 1024) : std::nan("");
}

// The first line that begins with "MemTotal", printable and short; empty if there is none.
std::string total_line(std::string_view text) {
  constexpr size_t kShown = 60;
  const std::string_view key = kMeminfo[kTotal].key;
  const size_t start = text.substr(0, key.size()) == key ? 0 : text.find("\nMemTotal");
  if (start == std::string_view::npos) return "";
  text.remove_prefix(start == 0 ? 0 : start + 1);
  std::string line(text.substr(0, std::min(text.find('\n'), kShown)));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

Failure no_total(std::string_view text) {
  const std::string line = total_line(text);
  const std::string found = line.empty() ? "/proc/meminfo has no MemTotal line"
                                         : "/proc/meminfo has the line \"" + line + "\"";
  return Failure{"kernel", "read /proc/meminfo", std::nullopt, "NO_MEMTOTAL",
                 found + "; expected one line \"MemTotal: <number> kB\" of 16 MiB or more"};
}

}  // namespace

void parse_meminfo(std::string_view text, double* out) {
  std::fill_n(out, kMeminfoFields, std::nan(""));
  static_assert(kMeminfoFields <= 64);
  uint64_t seen = 0;
  size_t expected = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool complete = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));

    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    // Starts at the row that follows the last hit, which often matches.
    for (size_t step = 0; step < kMeminfoFields; ++step) {
      const size_t row = (expected + step) % kMeminfoFields;
      if (kMeminfo[row].key != key) continue;
      const uint64_t bit = 1ull << row;
      out[row] = (seen & bit) != 0
                     ? std::nan("")
                     : parse_value(line.substr(colon + 1), kMeminfo[row].kind, complete);
      seen |= bit;
      expected = row + 1;
      break;
    }
  }
  for (size_t row = 0; row < kMeminfoFields; ++row) {
    if (kMeminfo[row].kind == MeminfoKind::kPart && out[row] > out[kTotal]) out[row] = std::nan("");
  }
}

std::optional<Failure> check_total(std::string_view text, const double* out) {
  if (out[kTotal] >= kLeastTotal) return std::nullopt;
  return no_total(text);
}

// About 1.5 KiB on kernels up to 7.0.
constexpr size_t kMeminfoBytes = 8192;

std::optional<Failure> read_meminfo(Host& host, double* out) {
  char buffer[kMeminfoBytes];
  const long length = host.reread("/proc/meminfo", buffer, sizeof buffer);
  if (length < 0) return read_failure(host, "/proc/meminfo", static_cast<int>(-length));
  const std::string_view text(buffer, static_cast<size_t>(length));
  parse_meminfo(text, out);
  return check_total(text, out);
}

}  // namespace umaprobe

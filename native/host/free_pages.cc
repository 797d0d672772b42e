#include "host/free_pages.h"

#include <algorithm>
#include <memory>

#include "base/digits.h"
#include "base/unknown.h"

namespace umaprobe {
namespace {

constexpr double kBlock = 2.0 * (1 << 20);

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

double parse_free_blocks(std::string_view text, double page_size) {
  double bytes = kUnknown;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const size_t zone = line.find("zone");
    if (zone == std::string_view::npos) continue;
    line.remove_prefix(std::min(line.find_first_of("0123456789", zone), line.size()));
    if (!known(bytes)) bytes = 0;
    for (double block = page_size; !line.empty(); block *= 2) {
      const auto count = take_digits(line, 10, kMaxExactInteger);
      if (!count) return kUnknown;
      if (block >= kBlock) bytes += static_cast<double>(*count) * block;
      skip_spaces(line);
    }
  }
  return bytes;
}

// A list is two lines, "    cpu: 0" and "              count:    12", and lines that are not
// counted.
double parse_cpu_lists(std::string_view text, double page_size) {
  double bytes = kUnknown;
  bool in_list = false;
  // A part of the sum would pass for all of it.
  if (text.empty() || text.back() != '\n') return bytes;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    skip_spaces(line);
    if (!in_list) {
      in_list = take_prefix(line, "cpu: ");
      continue;
    }
    if (!take_prefix(line, "count:")) return kUnknown;
    skip_spaces(line);
    const auto count = take_digits(line, 10, kMaxExactInteger);
    skip_spaces(line);
    if (!count || !line.empty()) return kUnknown;
    bytes = (known(bytes) ? bytes : 0) + static_cast<double>(*count) * page_size;
    in_list = false;
  }
  return in_list ? kUnknown : bytes;
}

Fact<double> read_cpu_lists(Host& host) {
  // 16 processors take 20 kB, 144 take 0.2 MiB.
  constexpr size_t kUsual = 1u << 16, kMost = 1u << 20;
  for (size_t size = kUsual;; size = kMost) {
    const std::unique_ptr<char[]> text(new char[size]);
    const long length = host.reread("/proc/zoneinfo", text.get(), size);
    if (length < 0) return read_failure(host, "/proc/zoneinfo", static_cast<int>(-length));
    const auto read = static_cast<size_t>(length);
    if (read < size || size == kMost)
      return parse_cpu_lists({text.get(), read}, static_cast<double>(host.page_size()));
  }
}

}  // namespace umaprobe

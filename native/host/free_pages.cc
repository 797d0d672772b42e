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
    if (!in_list) {
      in_list = line.find("cpu: ") != std::string_view::npos;
      continue;
    }
    skip_spaces(line);
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
  // The text of 144 processors has 0.2 MiB. The kernel would write all of it again for a buffer
  // that was too small; memory that the text does not reach is never touched.
  constexpr size_t kBytes = 1u << 20;
  thread_local const std::unique_ptr<char[]> text(new char[kBytes]);
  const long length = host.reread("/proc/zoneinfo", text.get(), kBytes);
  if (length < 0) return read_failure(host, "/proc/zoneinfo", static_cast<int>(-length));
  const std::string_view zones(text.get(), static_cast<size_t>(length));
  return parse_cpu_lists(zones, static_cast<double>(host.page_size()));
}

}  // namespace umaprobe

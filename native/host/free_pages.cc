#include "host/free_pages.h"

#include <algorithm>

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

// "  pagesets" begins the lists of a zone: "    cpu: 0", "              count:    12", and lines
// that are not counted. Another zone, or "  node_unreclaimable:", ends them.
double parse_cpu_lists(std::string_view text, double page_size) {
  double bytes = kUnknown;
  // A part of the sum would pass for all of it.
  if (text.empty() || text.back() != '\n') return bytes;
  bool in_lists = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (take_prefix(line, "Node ")) in_lists = false;
    skip_spaces(line);
    if (take_prefix(line, "pagesets")) in_lists = true;
    if (!in_lists || !take_prefix(line, "count:")) continue;
    skip_spaces(line);
    const auto count = take_digits(line, 10, kMaxExactInteger);
    if (!count || !line.empty()) return kUnknown;
    bytes = (known(bytes) ? bytes : 0) + static_cast<double>(*count) * page_size;
  }
  return bytes;
}

}  // namespace umaprobe

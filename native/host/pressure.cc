#include "host/pressure.h"

#include <algorithm>

#include "base/digits.h"

namespace umaprobe {
namespace {

constexpr double kPeriod = 2;                  // seconds
constexpr double kDecay = 0.8187307530779818;  // exp(-2/10)

// The value of the word "key=value".
std::string_view value_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (take_prefix(word, key) && take_prefix(word, "=")) return word;
  }
  return {};
}

// "avg10=0.12 avg60=0.00 avg300=0.00 total=1234"
std::optional<PressureLine> parse_line(std::string_view line) {
  std::string_view percent = value_of(line, "avg10"), microseconds = value_of(line, "total");
  const auto avg10 = take_decimal(percent);
  const auto total = take_digits(microseconds, 10, kMaxExactInteger);
  if (!avg10 || !total || !percent.empty() || !microseconds.empty() || *avg10 > 100)
    return std::nullopt;
  return PressureLine{*avg10, static_cast<double>(*total)};
}

}  // namespace

Pressure parse_pressure(std::string_view text) {
  Pressure pressure;
  bool has_some = false, has_full = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!has_some && take_prefix(line, "some ")) {
      has_some = true;
      pressure.some = parse_line(line);
    } else if (!has_full && take_prefix(line, "full ")) {
      has_full = true;
      pressure.full = parse_line(line);
    }
  }
  return pressure;
}

double LivePressure::add(double now, const PressureLine& line) {
  // A sample per 100 ms is enough for a window of two seconds.
  const Sample& last = ring_[(count_ + ring_.size() - 1) % ring_.size()];
  if (count_ == 0 || now - last.at >= kPeriod / 20) {
    ring_[count_++ % ring_.size()] = {now, line.total};
  }
  double then = line.total;
  for (size_t i = 0; i < std::min(count_, ring_.size()); ++i) {
    if (now - ring_[i].at <= kPeriod) then = std::min(then, ring_[i].total);
  }
  const double stalled = std::min((line.total - then) / 2e6, 1.0) * 100;
  return std::max(line.avg10, kDecay * line.avg10 + (1 - kDecay) * stalled);
}

}  // namespace umaprobe

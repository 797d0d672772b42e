#include "guard/readings.h"

#include <algorithm>
#include <cmath>

#include "base/digits.h"
#include "host/meminfo.h"

namespace umaprobe {
namespace {

constexpr double kPeriod = 2;                  // seconds
constexpr double kDecay = 0.8187307530779818;  // exp(-2/10)
constexpr uint64_t kMaxPercent = 100;
constexpr std::string_view kAvailable = "MemAvailable:";

// "12.34", as the kernel prints a percentage; the whole of `text`.
std::optional<double> parse_percent(std::string_view text) {
  const auto whole = take_digits(text, 10, kMaxPercent);
  if (!whole) return std::nullopt;
  if (text.empty()) return static_cast<double>(*whole);
  if (!take_prefix(text, ".")) return std::nullopt;
  const size_t decimals = text.size();
  const auto fraction = take_digits(text, 10, kMaxExactInteger);
  if (!fraction || !text.empty()) return std::nullopt;
  const double percent =
      static_cast<double>(*whole) +
      static_cast<double>(*fraction) / std::pow(10, static_cast<double>(decimals));
  if (percent > kMaxPercent) return std::nullopt;
  return percent;
}

std::optional<double> parse_microseconds(std::string_view text) {
  const auto value = take_digits(text, 10, kMaxExactInteger);
  if (!value || !text.empty()) return std::nullopt;
  return static_cast<double>(*value);
}

// The value of "key=value" in a line of words.
std::string_view value_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (take_prefix(word, key) && take_prefix(word, "=")) return word;
  }
  return {};
}

}  // namespace

// "full avg10=0.12 avg60=0.00 avg300=0.00 total=1234"
std::optional<PressureLine> parse_full_pressure(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!take_prefix(line, "full ")) continue;
    const auto avg10 = parse_percent(value_of(line, "avg10"));
    const auto total = parse_microseconds(value_of(line, "total"));
    if (!avg10 || !total) return std::nullopt;
    return PressureLine{*avg10, *total};
  }
  return std::nullopt;
}

// MemAvailable is the third line since Linux 3.14; only that line is parsed.
std::optional<double> parse_available(std::string_view text) {
  while (!text.empty()) {
    const size_t size = text.size();
    const std::string_view line = take_line(text);
    if (line.substr(0, kAvailable.size()) != kAvailable) continue;
    // A line without its newline was cut off: its number may lack digits.
    if (line.size() == size) return std::nullopt;
    double numbers[kMeminfoFields];
    parse_meminfo(line, numbers);
    constexpr size_t kSlot = 2;
    static_assert(std::string_view(kMeminfo[kSlot].field) == "available");
    if (std::isnan(numbers[kSlot])) return std::nullopt;
    return numbers[kSlot];
  }
  return std::nullopt;
}

std::optional<double> read_available(Host& host) {
  char buffer[512];
  const long length = host.read_meminfo(buffer, sizeof buffer);
  if (length <= 0) return std::nullopt;
  return parse_available({buffer, static_cast<size_t>(length)});
}

std::optional<PressureLine> read_full_pressure(Host& host) {
  char buffer[512];
  const long length = host.read("/proc/pressure/memory", buffer, sizeof buffer);
  if (length <= 0) return std::nullopt;
  return parse_full_pressure({buffer, static_cast<size_t>(length)});
}

double LivePressure::add(double now, const PressureLine& line) {
  // One sample per 100 ms is enough for a window of two seconds.
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

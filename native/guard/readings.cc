#include "guard/readings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "host/meminfo.h"

namespace umaprobe {
namespace {

constexpr double kPeriod = 2;                  // seconds
constexpr double kDecay = 0.8187307530779818;  // exp(-2/10)

// The number after `key`; NaN if there is none. `text` must be null-terminated.
double number_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nan("");
  return std::strtod(text.data() + at + key.size(), nullptr);
}

}  // namespace

std::optional<PressureLine> parse_full_pressure(std::string_view text) {
  const size_t at = text.find("full ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(at);
  const PressureLine full{number_after(line, "avg10="), number_after(line, "total=")};
  if (std::isnan(full.avg10) || std::isnan(full.total)) return std::nullopt;
  return full;
}

// MemAvailable is the third line since Linux 3.14; only that line is parsed.
std::optional<double> read_available(Host& host) {
  char buffer[512];
  const long length = host.read_meminfo(buffer, sizeof buffer);
  if (length <= 0) return std::nullopt;
  const std::string_view text(buffer, static_cast<size_t>(length));
  const size_t line = text.find("MemAvailable:");
  const size_t end = text.find('\n', std::min(line, text.size()));
  if (end == std::string_view::npos) return std::nullopt;
  double numbers[kMeminfoFields];
  parse_meminfo(text.substr(line, end - line), numbers);
  constexpr size_t kAvailable = 2;
  static_assert(std::string_view(kMeminfo[kAvailable].field) == "available");
  if (std::isnan(numbers[kAvailable])) return std::nullopt;
  return numbers[kAvailable];
}

std::optional<PressureLine> read_full_pressure(Host& host) {
  char buffer[512];
  const long length = host.read("/proc/pressure/memory", buffer, sizeof buffer - 1);
  if (length <= 0) return std::nullopt;
  buffer[length] = '\0';
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

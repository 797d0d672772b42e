// Reads numbers in texts of the kernel. No read goes beyond the view, and only digits are a number:
// no sign, no "0x", no "nan".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace umaprobe {

// The largest number up to which a double, and so JavaScript, holds every integer.
inline constexpr uint64_t kMaxExactInteger = 1ull << 53;

// The value of a digit; 99 for any other character.
constexpr unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 99;
}

// Takes the digits at the start of `text`. Empty if there are none, or if their number is above
// `most`; `text` is then unchanged.
constexpr std::optional<uint64_t> take_digits(
    std::string_view& text, unsigned base = 10,
    uint64_t most = std::numeric_limits<uint64_t>::max()) {
  uint64_t value = 0;
  size_t count = 0;
  for (; count < text.size() && digit_value(text[count]) < base; ++count) {
    const unsigned digit = digit_value(text[count]);
    if (digit > most || value > (most - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  if (count == 0) return std::nullopt;
  text.remove_prefix(count);
  return value;
}

// Takes a number like "12" or "12.34", with at most 15 digits after the point.
constexpr std::optional<double> take_decimal(std::string_view& text) {
  std::string_view rest = text;
  const auto whole = take_digits(rest, 10, kMaxExactInteger);
  if (!whole) return std::nullopt;
  auto value = static_cast<double>(*whole);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    const size_t digits = rest.size();
    const auto fraction = take_digits(rest, 10, kMaxExactInteger);
    if (!fraction) return std::nullopt;
    double unit = 1;
    for (size_t i = rest.size(); i < digits; ++i) unit *= 10;
    value += static_cast<double>(*fraction) / unit;
  }
  text = rest;
  return value;
}

// Takes `prefix` from the start of `text`. False, and `text` unchanged, if it starts otherwise.
constexpr bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes the line at the start of `text`, and its newline, which is not returned.
constexpr std::string_view take_line(std::string_view& text) {
  const size_t newline = text.find('\n');
  const std::string_view line = text.substr(0, newline);
  text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  return line;
}

}  // namespace umaprobe

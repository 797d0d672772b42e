// What the fuzz targets share: a property that aborts, and copies that the address sanitizer
// guards.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

// Ends the run: libFuzzer keeps the input that led here.
#define PROPERTY(condition)                                                          \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                  \
    }                                                                                \
  } while (false)

// A double that JavaScript may take for a size, a count or a time.
inline bool is_exact(double value) {
  return std::isfinite(value) && value >= 0 && value <= 9007199254740992.0;
}

// A copy without a NUL behind it: one byte read too far is reported.
class Exact {
 public:
  Exact(const uint8_t* data, size_t size) : bytes_(data, data + size) { bytes_.shrink_to_fit(); }
  explicit Exact(std::string_view text) : bytes_(text.begin(), text.end()) {
    bytes_.shrink_to_fit();
  }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::vector<uint8_t> bytes_;
};

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The number in a text of nothing but decimal digits; -1 for any other text and above 2^53.
inline double whole_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  const double value = std::strtod(text.c_str(), nullptr);
  return is_exact(value) ? value : -1;
}

}  // namespace fuzz

// A number that the caller gives by its name, and the range that is accepted.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/digits.h"

namespace umaprobe {

// The value is stored as `scale` times the given number, in bytes, seconds or percent.
template <class Values, class Number = double>
struct Given {
  const char* name;
  Number Values::*value;
  double scale, least, most;
};

inline constexpr auto kMostBytes = static_cast<double>(kMaxExactInteger - 1);
inline constexpr double kDayMs = 86'400'000;

template <class Values, class Number>
std::string range_of(const Given<Values, Number>& given) {
  char text[96];
  std::snprintf(text, sizeof text, "a number from %.16g to %.16g", given.least, given.most);
  return text;
}

// Stores `text` in the row of this name; false: there is none. `wrong`: the expected range, if
// `text` is outside.
template <class Values, class Number, size_t kRows>
bool store(const Given<Values, Number> (&rows)[kRows], std::string_view name, std::string_view text,
           Values& values, std::string& wrong) {
  const auto row =
      std::find_if(rows, rows + kRows, [&](const auto& given) { return given.name == name; });
  if (row == rows + kRows) return false;
  const auto number = take_decimal(text);
  if (number && text.empty() && *number >= row->least && *number <= row->most) {
    values.*row->value = static_cast<Number>(*number * row->scale);
  } else {
    wrong = "expected " + range_of(*row);
  }
  return true;
}

}  // namespace umaprobe

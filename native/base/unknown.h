// A number that was not read.
#pragma once

#include <cmath>
#include <limits>

namespace umaprobe {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
inline bool known(double value) { return !std::isnan(value); }

}  // namespace umaprobe

// Values that several rooms report, and that JavaScript gets in a form of their own.
#pragma once

#include <string>
#include <vector>

namespace umaprobe {

// Becomes a Float64Array.
struct Numbers {
  std::vector<double> values;
};

// A path as the kernel has it: any bytes. Becomes a string that leads back to the same file.
struct PathText {
  std::string bytes;
};

}  // namespace umaprobe

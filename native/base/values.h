// Values that more than one module reports.
#pragma once

#include <string>
#include <vector>

namespace umaprobe {

// The duration of a call.
struct Timing {
  double durationMs = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("durationMs", durationMs);
  }
};

// Becomes a Float64Array.
struct Numbers {
  std::vector<double> values;
};

// A path as the kernel has it: any bytes. Becomes a string that maps back to the same bytes.
struct PathText {
  std::string bytes;
};

}  // namespace umaprobe

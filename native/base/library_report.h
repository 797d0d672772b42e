// One GPU library in a report: its file, and the failure if it cannot be used.
#pragma once

#include <optional>
#include <string>

#include "base/failure.h"

namespace umaprobe {

struct LibraryReport {
  std::optional<std::string> path;
  std::optional<Failure> failure;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("path", path);
    field("failure", failure);
  }
};

}  // namespace umaprobe

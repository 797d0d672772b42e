// The file to which a path leads.
#pragma once

#include <string>

#include "base/failure.h"
#include "base/values.h"
#include "runtime/call_context.h"

namespace umaprobe {

struct ResolvedPath {
  PathText path;  // absolute, without links
  bool directory = false;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("path", path);
    field("directory", directory);
  }
};

// Must run on a worker thread: a file system that does not answer blocks the calls.
Fact<ResolvedPath> resolve_path(CallContext& context, const std::string& path);

}  // namespace umaprobe

// The file to which a path leads.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
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
inline Fact<ResolvedPath> resolve_path(CallContext& context, const std::string& path) {
  if (path.find('\0') != std::string::npos) return errno_failure("kernel", "realpath", EINVAL);
  context.enter("realpath");
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), ::free);
  if (!real) return errno_failure("kernel", "realpath", errno);
  context.enter("stat");
  struct stat about {};
  if (::stat(real.get(), &about) != 0) return errno_failure("kernel", "stat", errno);
  return ResolvedPath{{real.get()}, S_ISDIR(about.st_mode)};
}

}  // namespace umaprobe

#include "pagecache/resolve.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace umaprobe {

Fact<ResolvedPath> resolve_path(CallContext& context, const std::string& path) {
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

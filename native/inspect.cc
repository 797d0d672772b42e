#include "inspect.h"

#include <fcntl.h>

#include <cerrno>

namespace umaprobe {

Inspected inspect(int directory, dev_t dev, const char* name, CacheMethod method, bool keep_open) {
  // A mapping counts as an access, cachestat(2) does not.
  const int more = method == CacheMethod::kMincore ? O_NOATIME : 0;
  Descriptor file = open_to_look(directory, name, more);
  Inspected found;
  if (!file) {
    found.failed_call = "openat";
    found.error = errno;
    return found;
  }
  found = inspect(std::move(file), method);
  if (!keep_open && found.about.st_dev == dev) found.file.close();
  return found;
}

Inspected inspect(Descriptor file, CacheMethod method) {
  Inspected found;
  found.file = std::move(file);
  if (::fstat(found.file.get(), &found.about) != 0) {
    found.failed_call = "fstat";
    found.error = errno;
  } else if (S_ISREG(found.about.st_mode)) {
    const auto size = static_cast<uint64_t>(found.about.st_size);
    found.pages = cached_pages(method, found.file.get(), 0, 0, size);
  }
  return found;
}

}  // namespace umaprobe

#include "pagecache/inspect.h"

#include <fcntl.h>

#include <cerrno>

namespace umaprobe {

namespace {

// Bytes. Evicting a file up to this size takes microseconds; opening it again would cost more.
constexpr uint64_t kSmall = 1u << 20;

void evict_small(Inspected& found, CacheMethod method) {
  const auto* pages = std::get_if<CachedPages>(&found.pages);
  if (pages && pages->cached == 0) return;
  const bool small = pages && pages->cached <= kSmall && found.about.st_size <= off_t{kSmall};
  if (!small || !pages->clean() || found.about.st_nlink != 1) {
    found.evict_later = true;
    return;
  }
  drop_clean_pages(found.file.get());
  const auto size = static_cast<uint64_t>(found.about.st_size);
  const Fact<CachedPages> after = cached_pages(method, found.file.get(), 0, 0, size);
  if (const auto* left = std::get_if<CachedPages>(&after)) found.left = left->cached;
}

}  // namespace

Inspected inspect_open(int directory, const char* name, CacheMethod method) {
  // mincore(2) needs a mapping, which counts as an access; cachestat(2) does not.
  const int extra_flags = method == CacheMethod::kMincore ? O_NOATIME : 0;
  Descriptor file = open_to_inspect(directory, name, extra_flags);
  Inspected found;
  if (!file) {
    found.failed_call = "openat";
    found.error = errno;
    return found;
  }
  return inspect(std::move(file), method);
}

Inspected inspect(int directory, dev_t dev, const char* name, CacheMethod method) {
  Inspected found = inspect_open(directory, name, method);
  if (found.about.st_dev == dev) found.file.close();
  return found;
}

Inspected inspect_and_evict(int directory, dev_t dev, const char* name, CacheMethod method) {
  Inspected found = inspect_open(directory, name, method);
  if (!found.failed_call && S_ISREG(found.about.st_mode)) evict_small(found, method);
  if (found.evict_later || found.about.st_dev == dev) found.file.close();
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

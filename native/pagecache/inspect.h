// Inspects one file: opens it and reads its type and its pages in the cache.
#pragma once

#include <sys/stat.h>

#include "pagecache/cached_pages.h"
#include "pagecache/tree.h"

namespace umaprobe {

struct Inspected {
  // The failed call, if the file could not be opened or read.
  const char* failed_call = nullptr;
  int error = 0;
  struct stat about {};
  Fact<CachedPages> pages;  // meaningful for regular files only
  // Bytes that stayed in the cache, if the file was evicted at once.
  std::optional<uint64_t> left;
  // The file needs its own eviction: it is large, may be dirty, or has other names, which other
  // threads may inspect at the same time.
  bool evict_later = false;
  // The file, open if the caller asked for it, or if another file system is mounted on the name:
  // its classification needs the descriptor.
  Descriptor file;
};

// All are safe on any thread. `name` is relative to `directory`, which is on device `dev`. Links
// are not followed.
Inspected inspect(int directory, dev_t dev, const char* name, CacheMethod method);
// Also evicts the file if it is small and known to be clean; otherwise sets `evict_later`.
Inspected inspect_and_evict(int directory, dev_t dev, const char* name, CacheMethod method);
// Leaves the file open, for an eviction that follows.
Inspected inspect_open(int directory, const char* name, CacheMethod method);
// Inspects a file that is open already; it stays open.
Inspected inspect(Descriptor file, CacheMethod method);

}  // namespace umaprobe

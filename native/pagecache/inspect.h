// One file of a walk: opened, told what it is, and what of it is in the page cache.
#pragma once

#include <sys/stat.h>

#include "pagecache/pagecache.h"
#include "pagecache/tree.h"

namespace umaprobe {

struct Inspected {
  // Set: it could not be opened or looked at. Or it is not a regular file; see `about`.
  const char* failed_call = nullptr;
  int error = 0;
  struct stat about {};
  Fact<CachedPages> pages;
  // Set: it was evicted at once, and so much stayed, in bytes.
  std::optional<uint64_t> left;
  // To be evicted with time: it is large, it may be dirty, or other names of it are looked at
  // meanwhile.
  bool later = false;
  // Open where that was asked, and, to tell its file system, where a file is mounted on its name.
  Descriptor file;
};

// Safe on any thread. `name`: in `directory`, which is on `dev`; not followed when it is a link.
Inspected inspect(int directory, dev_t dev, const char* name, CacheMethod method);
// The same of a file to be evicted: what is small and known to be clean goes at once, for anything
// else `later` is set.
Inspected inspect_and_evict(int directory, dev_t dev, const char* name, CacheMethod method);
// The same of one to be evicted now: it stays open.
Inspected inspect_open(int directory, const char* name, CacheMethod method);
// Of a file that is open, and stays so.
Inspected inspect(Descriptor file, CacheMethod method);

}  // namespace umaprobe

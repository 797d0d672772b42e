// One file of a walk: opened, told what it is, and what of it is in the page cache.
#pragma once

#include <sys/stat.h>

#include "pagecache.h"
#include "tree.h"

namespace umaprobe {

struct Inspected {
  // Set: it could not be opened or looked at. Or it is not a regular file; see `about`.
  const char* failed_call = nullptr;
  int error = 0;
  struct stat about {};
  Fact<CachedPages> pages;
  // Open where that was asked, and where a single file is mounted on its name.
  Descriptor file;
};

// Safe on any thread. `name`: in `directory`, which is on `dev`; not followed when it is a link.
Inspected inspect(int directory, dev_t dev, const char* name, CacheMethod method, bool keep_open);
// The same of a file that is open, and stays so.
Inspected inspect(Descriptor file, CacheMethod method);

}  // namespace umaprobe

// Counts the pages of a file in the page cache, and asks the kernel to drop them.
#pragma once

#include <cstdint>

#include "base/failure.h"
#include "runtime/call_context.h"

namespace umaprobe {

// Bytes of whole pages: the last page of a file counts in full.
struct CachedPages {
  uint64_t cached = 0;
  // Empty with mincore(2), which cannot tell.
  std::optional<uint64_t> dirty;
  std::optional<uint64_t> writeback;

  // Returns whether the file is known to have no dirty pages and none under writeback.
  bool clean() const { return dirty && *dirty == 0 && writeback && *writeback == 0; }
};

// cachestat(2) came with Linux 6.5. If it is missing, or an older container's seccomp filter blocks
// it, mincore(2) on a mapping of the file tells which pages are cached.
enum class CacheMethod { kCachestat, kMincore };

// Returns the method that works here, determined once per process.
CacheMethod cache_method();

// Both methods require ownership of the file, write permission or CAP_FOWNER; otherwise EPERM
// (mincore since Linux 5.2, cachestat since 6.13 and stable kernels before).
//
// All numbers are bytes. `length` 0: to the end of the file. `size`: the whole file's.
Fact<CachedPages> cached_pages(CacheMethod method, int fd, uint64_t offset, uint64_t length,
                               uint64_t size);

// Asks the kernel to drop the clean pages of a file. It starts writing the dirty ones.
void drop_clean_pages(int fd);

// Drops the clean pages of one file, chunk by chunk. Never loses data: the kernel drops clean pages
// only. Chunks with dirty pages are skipped, because POSIX_FADV_DONTNEED would start writing them
// (mm/fadvise.c). If dirty pages are not visible (mincore, files of other users), the kernel does
// start writing them, and they stay in the cache.
class Eviction {
 public:
  // `before`: empty if the pages are not visible. `fd` must outlive the eviction.
  Eviction(CacheMethod method, int fd, uint64_t size, const std::optional<CachedPages>& before);

  // Writes dirty pages and waits. Returns milliseconds.
  Fact<double> sync(CallContext& context);

  // Drops one chunk of at most 1 GiB (some 0.1 s with 4 KiB pages). True after the last chunk.
  bool step(CallContext& context);

 private:
  void drop(CallContext& context, uint64_t offset, uint64_t length);

  CacheMethod method_;
  int fd_;
  uint64_t size_;
  uint64_t at_ = 0;
  bool dirty_seen_;
};

}  // namespace umaprobe

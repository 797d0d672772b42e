// What of a file is in the page cache, and asking the kernel to let it go.
#pragma once

#include <cstdint>

#include "base/failure.h"
#include "runtime/call_context.h"

namespace umaprobe {

// In bytes of whole pages: the last page of a file counts in full.
struct CachedPages {
  uint64_t cached = 0;
  // Empty: mincore(2) does not know.
  std::optional<uint64_t> dirty;
  std::optional<uint64_t> writeback;

  // Nothing that would have to be written first, as far as is known.
  bool clean() const { return dirty && *dirty == 0 && writeback && *writeback == 0; }
};

// cachestat(2) came with Linux 6.5. Where it is missing, or a container's seccomp filter of older
// days does not know it, mincore(2) over a mapping of the file says which pages are there.
enum class CacheMethod { kCachestat, kMincore };

// Asked once in the life of the process.
CacheMethod cache_method();

// Both methods tell only who owns the file, may write it or has CAP_FOWNER (mincore since Linux
// 5.2, cachestat since 6.13 and in stable kernels before): anyone else gets EPERM.
//
// `length` 0: to the end of the file. `size`: of the whole file. Both in bytes.
Fact<CachedPages> cached_pages(CacheMethod method, int fd, uint64_t offset, uint64_t length,
                               uint64_t size);

// Asks the kernel to let go of the clean pages of a whole file. Dirty ones it begins to write.
void drop_clean_pages(int fd);

// Drops the clean pages of one file, piece by piece. Never writes and never loses anything: the
// kernel drops clean pages only, and pieces with dirty pages are not touched, because
// POSIX_FADV_DONTNEED would start writing them (mm/fadvise.c). Where dirty pages cannot be seen
// (mincore, files of others) that is what happens to them; then they stay, too.
class Eviction {
 public:
  // `before` empty: its pages cannot be seen. `fd` must live as long as this.
  Eviction(CacheMethod method, int fd, uint64_t size, const std::optional<CachedPages>& before);

  // Writes what is dirty; waits for it. Milliseconds.
  Fact<double> sync(CallContext& context);

  // One piece of at most 1 GiB (some 0.1 s for 4 KiB pages). True: that was the last.
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

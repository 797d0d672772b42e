#include "pagecache/cached_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/failure.h"

namespace umaprobe {
namespace {

constexpr uint64_t kChunk = 1ull << 30;
// A chunk of this size with dirty pages is skipped rather than split.
constexpr uint64_t kSmallestChunk = 4ull << 20;

// These declarations are those of linux/mman.h 6.5; older headers lack them. The number is the same
// on all architectures that umaprobe is built for.
constexpr long kCachestatCall = 451;
struct CachestatRange {
  uint64_t offset;
  uint64_t length;
};
struct Cachestat {
  uint64_t cached;
  uint64_t dirty;
  uint64_t writeback;
  uint64_t evicted;
  uint64_t recently_evicted;
};

uint64_t page_bytes() {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

long cachestat(int fd, const CachestatRange& range, Cachestat& out) {
  return ::syscall(kCachestatCall, fd, &range, &out, 0u);
}

// A mapping of a part of a file, used by mincore(2) only and never read.
class FileMapping {
 public:
  FileMapping(int fd, uint64_t offset, uint64_t length)
      : length_(length),
        address_(::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset))) {}
  ~FileMapping() {
    if (mapped()) ::munmap(address_, length_);
  }
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  bool mapped() const { return address_ != MAP_FAILED; }
  bool residency(unsigned char* pages) const { return ::mincore(address_, length_, pages) == 0; }

 private:
  uint64_t length_;
  void* address_;
};

uint64_t whole_pages(uint64_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// mincore(2) without permission reports every page as cached (mm/mincore.c, can_do_mincore). So it
// is asked about a page far beyond the end, which cannot be cached.
bool sees_pages(int fd, uint64_t size) {
  const FileMapping beyond_end(fd, whole_pages(size) + kChunk, page_bytes());
  unsigned char page = 0;
  return !beyond_end.mapped() || !beyond_end.residency(&page) || (page & 1) == 0;
}

Fact<CachedPages> by_mincore(int fd, uint64_t offset, uint64_t length, uint64_t size) {
  if (!sees_pages(fd, size)) return errno_failure("kernel", "mincore", EPERM);
  const uint64_t end = length == 0 ? size : std::min(size, offset + length);
  std::vector<unsigned char> pages(
      (std::min(kChunk, whole_pages(end > offset ? end - offset : 0))) / page_bytes());
  CachedPages found;
  for (; offset < end; offset += kChunk) {
    const uint64_t bytes = whole_pages(std::min(kChunk, end - offset));
    const FileMapping mapping(fd, offset, bytes);
    if (!mapping.mapped()) return errno_failure("kernel", "mmap", errno);
    if (!mapping.residency(pages.data())) return errno_failure("kernel", "mincore", errno);
    uint64_t count = 0;
    for (uint64_t i = 0; i < bytes / page_bytes(); ++i) count += pages[i] & 1;
    found.cached += count * page_bytes();
  }
  return found;
}

}  // namespace

CacheMethod cache_method() {
  static const CacheMethod method = [] {
    Cachestat out{};
    // A kernel that has the call checks the descriptor first.
    const bool known = cachestat(-1, {0, 0}, out) < 0 && errno == EBADF;
    return known ? CacheMethod::kCachestat : CacheMethod::kMincore;
  }();
  return method;
}

Fact<CachedPages> cached_pages(CacheMethod method, int fd, uint64_t offset, uint64_t length,
                               uint64_t size) {
  if (method == CacheMethod::kMincore) return by_mincore(fd, offset, length, size);
  Cachestat out{};
  if (cachestat(fd, {offset, length}, out) < 0) return errno_failure("kernel", "cachestat", errno);
  const uint64_t page = page_bytes();
  return CachedPages{out.cached * page, out.dirty * page, out.writeback * page};
}

void drop_clean_pages(int fd) { ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); }

Eviction::Eviction(CacheMethod method, int fd, uint64_t size,
                   const std::optional<CachedPages>& before)
    : method_(method),
      fd_(fd),
      size_(size),
      dirty_seen_(before && before->dirty && *before->dirty > 0) {}

Fact<double> Eviction::sync(CallContext& context) {
  context.enter("fdatasync");
  const auto start = Clock::now();
  if (::fdatasync(fd_) != 0) return errno_failure("kernel", "fdatasync", errno);
  dirty_seen_ = false;
  return milliseconds_since(start);
}

bool Eviction::step(CallContext& context) {
  const bool last = size_ - at_ <= kChunk;
  drop(context, at_, last ? 0 : kChunk);
  at_ += kChunk;
  return last;
}

void Eviction::drop(CallContext& context, uint64_t offset, uint64_t length) {
  if (dirty_seen_) {
    context.enter("cachestat");
    const Fact<CachedPages> found = cached_pages(method_, fd_, offset, length, size_);
    const auto* pages = std::get_if<CachedPages>(&found);
    if (!pages || pages->cached == 0) return;
    if (pages->dirty.value_or(0) > 0) {
      const uint64_t span = length == 0 ? size_ - offset : length;
      if (span <= kSmallestChunk) return;
      const uint64_t half = whole_pages(span / 2);
      drop(context, offset, half);
      return drop(context, offset + half, length == 0 ? 0 : length - half);
    }
  }
  // If pages stay because of other processors' per-CPU lists, the kernel drains those lists itself
  // (mm/fadvise.c, lru_add_drain_all), so a second call would gain nothing.
  context.enter("posix_fadvise");
  ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
}

}  // namespace umaprobe

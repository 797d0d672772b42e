#include "pagecache/pagecache.h"

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

constexpr uint64_t kPiece = 1ull << 30;
// Around dirty pages so much is left alone.
constexpr uint64_t kSmallestPiece = 4ull << 20;

// Of linux/mman.h since 6.5; older headers do not have them. One number on all architectures we
// build for.
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

// A mapping of a part of a file, for mincore alone: nobody reads it.
class Window {
 public:
  Window(int fd, uint64_t offset, uint64_t length)
      : length_(length),
        address_(::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset))) {}
  ~Window() {
    if (mapped()) ::munmap(address_, length_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  bool mapped() const { return address_ != MAP_FAILED; }
  bool residency(unsigned char* pages) const { return ::mincore(address_, length_, pages) == 0; }

 private:
  uint64_t length_;
  void* address_;
};

uint64_t whole_pages(uint64_t bytes) {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

// Who must not see a file's pages is told that all are there (mm/mincore.c, can_do_mincore). So is
// one asked about where there are none: far behind the end, where no page of any size reaches.
bool sees_pages(int fd, uint64_t size) {
  const Window nowhere(fd, whole_pages(size) + kPiece, page_bytes());
  unsigned char page = 0;
  return !nowhere.mapped() || !nowhere.residency(&page) || (page & 1) == 0;
}

Fact<CachedPages> by_mincore(int fd, uint64_t offset, uint64_t length, uint64_t size) {
  if (!sees_pages(fd, size)) return errno_failure("kernel", "mincore", EPERM);
  const uint64_t end = length == 0 ? size : std::min(size, offset + length);
  std::vector<unsigned char> pages(
      (std::min(kPiece, whole_pages(end > offset ? end - offset : 0))) / page_bytes());
  CachedPages found;
  for (; offset < end; offset += kPiece) {
    const uint64_t bytes = whole_pages(std::min(kPiece, end - offset));
    const Window window(fd, offset, bytes);
    if (!window.mapped()) return errno_failure("kernel", "mmap", errno);
    if (!window.residency(pages.data())) return errno_failure("kernel", "mincore", errno);
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
    // A kernel that knows the call looks at the descriptor first.
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
  const auto since = Clock::now();
  if (::fdatasync(fd_) != 0) return errno_failure("kernel", "fdatasync", errno);
  dirty_seen_ = false;
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

bool Eviction::step(CallContext& context) {
  const bool last = size_ - at_ <= kPiece;
  drop(context, at_, last ? 0 : kPiece);
  at_ += kPiece;
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
      if (span <= kSmallestPiece) return;
      const uint64_t half = whole_pages(span / 2);
      drop(context, offset, half);
      return drop(context, offset + half, length == 0 ? 0 : length - half);
    }
  }
  // What the kernel keeps in the per-processor lists of others it collects itself when pages stay
  // (mm/fadvise.c: lru_add_drain_all), so nothing is gained by asking twice.
  context.enter("posix_fadvise");
  ::posix_fadvise(fd_, static_cast<off_t>(offset), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
}

}  // namespace umaprobe

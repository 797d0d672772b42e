#include "sim/gpu/backing.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

constexpr uint64_t kPatternBytes = 16ull << 20;  // 6,400 mappings per 100 GiB; the limit is 65,530
constexpr uint64_t kLeastMapped = 1ull << 20;    // smaller fills are written
constexpr size_t kPatternsKept = 4;

void repeat_pattern(char* to, uint64_t size, uint32_t pattern) {
  // The pattern starts at multiples of four, as it does in the pattern file.
  const auto* bytes = reinterpret_cast<const char*>(&pattern);
  uint64_t at = 0;
  for (; at < size && (reinterpret_cast<uintptr_t>(to) + at) % 4 != 0; at++) {
    to[at] = bytes[(reinterpret_cast<uintptr_t>(to) + at) % 4];
  }
  for (; at + 4 <= size; at += 4) std::memcpy(to + at, bytes, 4);
  for (; at < size; at++) to[at] = bytes[(reinterpret_cast<uintptr_t>(to) + at) % 4];
}

// Descriptor of a file filled with the pattern, or -1. The caller holds the lock of map_pattern().
int pattern_file(uint32_t pattern) {
  static std::map<uint32_t, int>& files = *new std::map<uint32_t, int>;
  const auto known = files.find(pattern);
  if (known != files.end()) return known->second;
  const int fd = memfd_create("umasim-pattern", MFD_CLOEXEC);
  if (fd < 0) return -1;
  void* memory = MAP_FAILED;
  if (ftruncate(fd, kPatternBytes) == 0) {
    memory = mmap(nullptr, kPatternBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    raw_close(fd);
    return -1;
  }
  repeat_pattern(static_cast<char*>(memory), kPatternBytes, pattern);
  munmap(memory, kPatternBytes);
  if (files.size() == kPatternsKept) {
    raw_close(files.begin()->second);  // its mappings stay valid
    files.erase(files.begin());
  }
  files[pattern] = fd;
  return fd;
}

// Maps the pattern over whole pages. Returns false if the limit of mappings is reached.
bool map_pattern(uintptr_t begin, uintptr_t end, uint32_t pattern) {
  static std::mutex lock;
  const std::lock_guard<std::mutex> guard(lock);
  if (pattern == 0) {
    return mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  const int fd = pattern_file(pattern);
  if (fd < 0) return false;
  while (begin < end) {
    // The offset follows the address, so adjacent fills merge into one mapping.
    const uint64_t offset = begin % kPatternBytes;
    const uint64_t length = std::min<uint64_t>(end - begin, kPatternBytes - offset);
    void* mapped = mmap(reinterpret_cast<void*>(begin), length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, static_cast<off_t>(offset));
    if (mapped == MAP_FAILED) return false;
    begin += length;
  }
  return true;
}

}  // namespace

void* map_backing(uint64_t size) {
  void* address = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

void unmap_backing(void* address, uint64_t size) { munmap(address, size); }

void fill_backing(void* address, uint64_t size, uint32_t pattern) {
  char* const to = static_cast<char*>(address);
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(to) + page - 1) / page * page;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(to) + size) / page * page;
  if (size < kLeastMapped || begin >= end || !map_pattern(begin, end, pattern)) {
    repeat_pattern(to, size, pattern);
    return;
  }
  repeat_pattern(to, begin - reinterpret_cast<uintptr_t>(to), pattern);
  repeat_pattern(reinterpret_cast<char*>(end), reinterpret_cast<uintptr_t>(to) + size - end,
                 pattern);
}

}  // namespace umasim

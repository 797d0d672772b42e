#include "sim/gpu/pattern_fills.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/pattern.h"

namespace umasim {
namespace {

constexpr uint64_t kChunk = 64 << 10;

// The pages of a range that have memory; the others read as zero.
class ResidentPages {
 public:
  ResidentPages(const char* from, uint64_t size)
      : page_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(from) / page_ * page_;
    base_ = begin;
    const uintptr_t end = reinterpret_cast<uintptr_t>(from) + size;
    pages_.resize((end - begin + page_ - 1) / page_);
    known_ = mincore(reinterpret_cast<void*>(begin), end - begin, pages_.data()) == 0;
  }
  // The length of the run from `at` on that is all resident or all absent.
  uint64_t run(const char* at, bool* present) const {
    uint64_t page = (reinterpret_cast<uintptr_t>(at) - base_) / page_;
    *present = is_resident(page);
    while (page < pages_.size() && is_resident(page) == *present) page++;
    return base_ + page * page_ - reinterpret_cast<uintptr_t>(at);
  }

 private:
  bool is_resident(uint64_t page) const { return !known_ || (pages_[page] & 1) != 0; }

  const uint64_t page_;
  uintptr_t base_;
  std::vector<unsigned char> pages_;
  bool known_;
};

void add_mismatches(const char* found, const char* expected, uint64_t size, uint64_t first,
                    Mismatches* sum) {
  if (std::memcmp(found, expected, size) == 0) return;
  for (uint64_t i = 0; i < size; i++) {
    if (found[i] == expected[i]) continue;
    sum->first = std::min(sum->first, first + i);
    sum->bytes++;
  }
}

void compare_bytes(const Segment& segment, uint64_t begin, uint64_t end, uint64_t seed,
                   uint64_t first, Mismatches* sum) {
  std::vector<char> found(kChunk), expected(kChunk);
  for (uint64_t at = begin; at < end; at += kChunk) {
    const uint64_t size = std::min(kChunk, end - at);
    read_segment(segment, at, size, found.data());
    write_pattern(expected.data(), size, seed, first + at);
    add_mismatches(found.data(), expected.data(), size, first + at, sum);
  }
}

// Compares a fill that has the expected pattern: only pages written through a pointer can differ.
void compare_written(const Segment& segment, uint64_t seed, uint64_t first, Mismatches* sum) {
  constexpr uint64_t kWindow = 256ull << 20;
  for (uint64_t at = 0; at < segment.size; at += kWindow) {
    const uint64_t end = std::min(at + kWindow, segment.size);
    const ResidentPages resident(segment.address + at, end - at);
    for (uint64_t from = at; from < end;) {
      bool present;
      const uint64_t to = std::min(from + resident.run(segment.address + from, &present), end);
      if (present) compare_bytes(segment, from, to, seed, first, sum);
      from = to;
    }
  }
}

}  // namespace

void forget_fill(Fills& fills, uint64_t begin, uint64_t end) {
  auto at = fills.lower_bound(begin);
  if (at != fills.begin() && std::prev(at)->second.end > begin) --at;
  while (at != fills.end() && at->first < end) {
    const uint64_t from = at->first;
    const Fill old = at->second;
    at = fills.erase(at);
    if (from < begin) fills[from] = {begin, old.seed, old.first};
    if (old.end > end) fills[end] = {old.end, old.seed, old.first + (end - from)};
  }
}

void remember_fill(Fills& fills, uint64_t begin, const Fill& fill) {
  forget_fill(fills, begin, fill.end);
  Fill merged = fill;
  uint64_t from = begin;
  // Merges adjacent slices of one pattern into a single fill.
  const auto next = fills.find(merged.end);
  if (next != fills.end() && next->second.seed == fill.seed &&
      next->second.first == fill.first + (merged.end - begin)) {
    merged.end = next->second.end;
    fills.erase(next);
  }
  const auto after = fills.lower_bound(begin);
  if (after != fills.begin()) {
    const auto before = std::prev(after);
    if (before->second.end == begin && before->second.seed == fill.seed &&
        before->second.first + (begin - before->first) == fill.first) {
      from = before->first;
      merged.first = before->second.first;
    }
  }
  fills[from] = merged;
}

std::vector<Segment> split_segments(const Fills& fills, const char* base, uint64_t offset,
                                    uint64_t size) {
  std::vector<Segment> all;
  const uint64_t end = offset + size;
  auto at = fills.upper_bound(offset);
  if (at != fills.begin()) --at;
  while (offset < end) {
    while (at != fills.end() && at->second.end <= offset) ++at;
    const bool filled = at != fills.end() && at->first <= offset;
    const uint64_t until = at == fills.end() ? end
                           : filled          ? std::min(end, at->second.end)
                                             : std::min(end, at->first);
    Segment segment{base + offset, until - offset, filled, 0, 0};
    if (filled) {
      segment.seed = at->second.seed;
      segment.first = at->second.first + (offset - at->first);
    }
    all.push_back(segment);
    offset = until;
  }
  return all;
}

void read_segment(const Segment& segment, uint64_t at, uint64_t size, char* to) {
  const char* const written = segment.address + at;
  if (!segment.filled) {
    std::memcpy(to, written, size);
    return;
  }
  write_pattern(to, size, segment.seed, segment.first + at);
  for (uint64_t i = 0; i < size; i++) {
    if (written[i] != 0) to[i] = written[i];
  }
}

void write_pattern(char* to, uint64_t size, uint64_t seed, uint64_t first) {
  uint64_t at = 0;
  for (; at < size && (first + at) % 8 != 0; at++) {
    to[at] = static_cast<char>(umaprobe::pattern_byte(seed, first + at));
  }
  for (; at + 8 <= size; at += 8) {
    const uint64_t word = umaprobe::pattern_word(seed, (first + at) / 8);
    std::memcpy(to + at, &word, 8);
  }
  for (; at < size; at++) {
    to[at] = static_cast<char>(umaprobe::pattern_byte(seed, first + at));
  }
}

Mismatches compare(const std::vector<Segment>& segments, uint64_t seed, uint64_t first) {
  Mismatches sum{0, umaprobe::kNoMismatch};
  for (const Segment& segment : segments) {
    if (segment.filled && segment.seed == seed && segment.first == first) {
      compare_written(segment, seed, first, &sum);
    } else {
      compare_bytes(segment, 0, segment.size, seed, first, &sum);
    }
    first += segment.size;
  }
  return sum;
}

}  // namespace umasim

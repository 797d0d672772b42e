// The fills of the fill kernel, recorded instead of written: 100 GiB of pattern would take as much
// memory of the simulating computer. The pages under a fill are empty. The program may write
// through a pointer: a nonzero byte there overrides the pattern. A zero byte equals an unwritten
// one, so verification misses a byte that the program overwrote with zero.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace umasim {

// A fill from its key, `begin`, to `end` (excluded): the byte at offset x of the allocation is the
// pattern's byte first + (x - begin); see abi/pattern.h.
struct Fill {
  uint64_t end, seed, first;
};
using Fills = std::map<uint64_t, Fill>;

// Removes [begin, end), which another write has replaced.
void forget_fill(Fills& fills, uint64_t begin, uint64_t end);
void remember_fill(Fills& fills, uint64_t begin, const Fill& fill);

// A range of memory that is either inside one fill or outside all fills.
struct Segment {
  const char* address;
  uint64_t size;
  bool filled;
  uint64_t seed, first;  // the fill's arguments
};
// The segments of `size` bytes at `offset` of the allocation at `base`.
std::vector<Segment> split_segments(const Fills& fills, const char* base, uint64_t offset,
                                    uint64_t size);
// Reads bytes of a segment from offset `at` on.
void read_segment(const Segment& segment, uint64_t at, uint64_t size, char* to);

// Writes the bytes of the pattern.
void write_pattern(char* to, uint64_t size, uint64_t seed, uint64_t first);

struct Mismatches {
  uint64_t bytes;
  uint64_t first;  // the lowest offset in the pattern, or kNoMismatch
};
// Compares segments with the pattern from `first` on.
Mismatches compare(const std::vector<Segment>& segments, uint64_t seed, uint64_t first);

}  // namespace umasim

// What the fill kernel wrote, remembered instead of written: 100 GiB of pattern would need as much
// memory of the computer that simulates. The pages under a fill are empty. A byte there that is not
// zero was written by the program itself through the pointer, and counts; a zero byte is as good as
// not written, which is the one thing that a pointer's writer can get past a verification.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace umasim {

// Up to `end` (not included): the byte at an offset x of the block is the pattern's at
// first + (x - begin); see ../pattern.h.
struct Fill {
  uint64_t end, seed, first;
};
using Fills = std::map<uint64_t, Fill>;  // by where it begins

// [begin, end) was written by something else.
void forget_fill(Fills& fills, uint64_t begin, uint64_t end);
void remember_fill(Fills& fills, uint64_t begin, const Fill& fill);

// A stretch of memory with contents of one kind.
struct Segment {
  const char* address;
  uint64_t size;
  bool filled;
  uint64_t seed, first;  // where filled
};
// The stretches of `size` bytes at `offset` of the block that lies at `block`.
std::vector<Segment> segments_of(const Fills& fills, const char* block, uint64_t offset,
                                 uint64_t size);
// The bytes of part of a segment.
void read_segment(const Segment& segment, uint64_t at, uint64_t size, char* to);

// Writes the pattern truly.
void write_fill(char* to, uint64_t size, uint64_t seed, uint64_t first);

struct Mismatches {
  uint64_t bytes;
  uint64_t first;  // offset as the pattern counts; kNoMismatch where there is none
};
// Compares stretches with the pattern that begins at `first`.
Mismatches compare(const std::vector<Segment>& segments, uint64_t seed, uint64_t first);

}  // namespace umasim

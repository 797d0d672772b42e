// The byte pattern that the fill kernel writes and the verify kernel expects. Each byte depends on
// the seed and on its offset in the block, so that both wrong and misplaced bytes are detected. The
// addon, the simulated device and the tests share it.
//
//   umaprobe_fill  (u64 base, u64 bytes, u64 seed, u64 first)
//   umaprobe_verify(u64 base, u64 bytes, u64 seed, u64 first, u64 result)
//
// `base` is the address of the byte at offset `first`, so that a block can be processed in slices.
#pragma once
#include <cstdint>

namespace umaprobe {

constexpr char kFillKernel[] = "umaprobe_fill";
constexpr char kVerifyKernel[] = "umaprobe_verify";

// The 64-bit word `index` of a block. The mix is bijective (the finalizer of splitmix64), so that
// no two words of a block are equal.
constexpr uint64_t pattern_word(uint64_t seed, uint64_t index) {
  uint64_t word = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

// The byte at an offset. Words are little-endian.
constexpr uint8_t pattern_byte(uint64_t seed, uint64_t offset) {
  return static_cast<uint8_t>(pattern_word(seed, offset / 8) >> (offset % 8 * 8));
}

// The result of the verify kernel, in device memory. The caller initializes it to {0, kNoMismatch}.
struct VerifyResult {
  uint64_t mismatches;      // bytes
  uint64_t first_mismatch;  // the lowest offset in the block
};
constexpr uint64_t kNoMismatch = ~uint64_t{0};

}  // namespace umaprobe

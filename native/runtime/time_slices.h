// A long piece of device work in slices, so that a stop is noticed within tens of milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/failure.h"

namespace umaprobe {

// The first slice. Memory that is there takes 4 ms a GiB on a GB10 and 20 ms over PCIe; what is not
// there yet takes 45 ms a GiB as managed and over 2 s as system memory.
inline constexpr uint64_t kSmallestSlice = 64ull << 20;
inline constexpr uint64_t kPopulatedSlice = 1ull << 30;

// The next slice after one of `bytes` that took `ms`: aims at 20 ms, but grows at most eightfold,
// because the next piece of memory may be slower than this one. Multiples of the smallest: each
// slice ends with a wait for the device of some 10 µs, which is 4 % of a GiB on an H200 and would
// be 40 % in slices of 64 MiB.
inline uint64_t next_slice(uint64_t bytes, double ms) {
  constexpr uint64_t kSmallest = kSmallestSlice;
  const double factor = std::clamp(20 / std::max(ms, 0.001), 0.125, 8.0);
  const auto wanted = static_cast<uint64_t>(static_cast<double>(bytes) * factor);
  return std::max(wanted / kSmallest * kSmallest, kSmallest);
}

// Calls work(offset, bytes), which answers when the device is done, until all is done or it fails.
template <class Work>
std::optional<Failure> in_slices(uint64_t bytes, uint64_t first_slice, Work work) {
  uint64_t slice = first_slice;
  for (uint64_t offset = 0; offset < bytes;) {
    const uint64_t part = std::min(slice, bytes - offset);
    const auto start = Clock::now();
    if (auto failure = work(offset, part)) return failure;
    slice = next_slice(part, milliseconds_since(start));
    offset += part;
  }
  return std::nullopt;
}

}  // namespace umaprobe

// Splits long device work into slices, so that a stop takes effect within tens of milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/failure.h"

namespace umaprobe {

// First slice, in bytes. Populated memory takes 4 ms per GiB on a GB10 and 20 ms over PCIe.
// Populating takes 45 ms per GiB for managed and over 2 s for system memory.
inline constexpr uint64_t kSmallestSlice = 64ull << 20;
inline constexpr uint64_t kPopulatedSlice = 1ull << 30;

// Size of the slice after one of `bytes` that took `ms`. It aims at 20 ms and grows at most
// eightfold, because the memory that follows may be slower. Always a multiple of the smallest
// slice: each slice ends with a device synchronization of some 10 µs, which costs 4 % at 1 GiB on
// an H200 and would cost 40 % at 64 MiB.
inline uint64_t next_slice(uint64_t bytes, double ms) {
  constexpr uint64_t kSmallest = kSmallestSlice;
  const double factor = std::clamp(20 / std::max(ms, 0.001), 0.125, 8.0);
  const auto wanted = static_cast<uint64_t>(static_cast<double>(bytes) * factor);
  return std::max(wanted / kSmallest * kSmallest, kSmallest);
}

// Calls work(offset, bytes) for each slice until the end or the first failure. `work` must wait for
// the device before it returns.
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

// A long piece of device work in slices, so that a stop is noticed within tens of milliseconds.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "failure.h"
#include "flight.h"

namespace umaprobe {

inline double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The next slice after one of `bytes` that took `ms`: aims at 20 ms, but grows at most eightfold,
// because the next piece of memory may be slower than this one (managed memory that is not there
// yet takes 45 ms a GiB on a GB10, what is there 4). Multiples of the smallest, 64 MiB: each ends
// with a wait for the device of some 10 µs, which at 4.8 TB/s and 10 GB is 1 % in four slices and
// would be 40 % in slices of 64 MiB.
inline uint64_t next_slice(uint64_t bytes, double ms) {
  constexpr uint64_t kSmallest = 64u << 20;
  if (bytes == 0) return kSmallest;
  const double factor = std::clamp(20 / std::max(ms, 0.001), 0.125, 8.0);
  const auto wanted = static_cast<uint64_t>(static_cast<double>(bytes) * factor);
  return std::max(wanted / kSmallest * kSmallest, kSmallest);
}

// Calls work(offset, bytes), which answers when the device is done, until all is done or it fails.
template <class Work>
std::optional<Failure> in_slices(uint64_t bytes, Work work) {
  uint64_t slice = next_slice(0, 0);
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

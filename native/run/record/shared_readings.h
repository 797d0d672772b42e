// Readings of the machine that one process takes and another one uses: if the guard of a program
// and a recorder run side by side, the guard reads, and the recorder need not.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"
#include "host/memory_reader.h"

namespace umaprobe {

class SharedReadings {
 public:
  SharedReadings() = default;
  ~SharedReadings();
  SharedReadings(const SharedReadings&) = delete;
  SharedReadings& operator=(const SharedReadings&) = delete;

  // Called by the recorder: makes new memory without a name. False: the kernel has none.
  bool create();
  // The descriptor that the guard inherits; -1: there is none.
  int descriptor() const { return file_.get(); }
  // Calls use(reading) for each reading that was written since the last call, and returns their
  // number. Readings that were overwritten meanwhile are left out.
  template <class Use>
  size_t take(Use use);
  // Lets another guard write: one that was killed has not said that it ended.
  void forget_writer();

  // Called by the guard: takes the descriptor over. False: it is no such memory, or another guard
  // writes.
  bool open(int descriptor);
  void write(const MemoryReading& reading);
  void end_writing();

 private:
  static constexpr size_t kSize = 1024;  // a second at the shortest interval
  struct Memory {
    std::atomic<uint32_t> writing;
    std::atomic<uint64_t> written;
    std::array<MemoryReading, kSize> readings;
  };
  bool map();

  Descriptor file_;
  Memory* memory_ = nullptr;
  uint64_t taken_ = 0;
};

template <class Use>
size_t SharedReadings::take(Use use) {
  if (!memory_) return 0;
  const uint64_t written = memory_->written.load(std::memory_order_acquire);
  if (written - taken_ > kSize) taken_ = written - kSize;
  size_t count = 0;
  for (; taken_ != written; ++taken_) {
    const MemoryReading reading = memory_->readings[taken_ % kSize];
    std::atomic_thread_fence(std::memory_order_acquire);
    // The next reading to be written takes the place of the oldest.
    if (memory_->written.load(std::memory_order_relaxed) - taken_ >= kSize) continue;
    use(reading);
    count++;
  }
  return count;
}

}  // namespace umaprobe

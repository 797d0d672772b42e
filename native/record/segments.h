// A ring of segment files in one folder, bounded in size. Used by one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/failure.h"

namespace umaprobe {

class Segments {
 public:
  struct Options {
    std::string folder;
    uint64_t segment_bytes = 0;
    uint64_t total_bytes = 0;
    std::string header;  // JSON, without the closing brace: the segment's number and time are added
  };

  explicit Segments(Options options) : options_(std::move(options)) {}

  // Takes the folder for this process, and begins a segment after those that are there. EBUSY:
  // another process records there.
  std::optional<Failure> open();

  // Appends records and makes them durable. A full segment is followed by a new one; the oldest
  // are removed, also where the disk has no room for a new one.
  std::optional<Failure> append(const std::string& records);

  uint64_t written() const { return written_; }
  // Segments that had to go because the disk is full, not because the ring is.
  uint64_t removed_for_room() const { return removed_for_room_; }

 private:
  std::optional<Failure> begin_segment();
  int allocate(uint64_t number, Descriptor& file) const;
  // Whether there was one.
  bool remove_oldest();
  std::string path(uint64_t number) const;

  const Options options_;
  Descriptor folder_;
  Descriptor lock_;
  Descriptor file_;
  std::vector<uint64_t> numbers_;  // on disk, oldest first
  uint64_t at_ = 0;                // in the current segment
  uint64_t written_ = 0;
  uint64_t removed_for_room_ = 0;
};

}  // namespace umaprobe

// A ring of segment files in one folder, bounded in bytes: a segment takes no more than the bytes
// written to it, so that many short recordings leave the long one before them. One thread uses it.
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
    std::string folder;  // its path, for messages
    int folder_fd = -1;  // duplicated by open()
    int lock_fd = -1;
    uint64_t segment_bytes = 0;
    uint64_t total_bytes = 0;
    std::string header;  // JSON, without the closing brace: the segment's number and time are added
  };

  explicit Segments(Options options) : options_(std::move(options)) {}

  // Takes the folder for this process, and begins a segment after those that are there. EBUSY:
  // another process records there.
  std::optional<Failure> open();
  // Ends the current segment and releases the folder.
  void close();

  // Appends records and makes them durable. A full segment is followed by a new one; the oldest are
  // removed, also if the disk has no room for even a small one.
  std::optional<Failure> append(const std::string& records);

  uint64_t written() const { return written_; }
  // Number of segments removed because the disk is full, not because the ring is.
  uint64_t removed_for_room() const { return removed_for_room_; }

 private:
  struct File {
    uint64_t number;
    uint64_t bytes;
  };

  std::optional<Failure> list();
  std::optional<Failure> begin_segment();
  // Cuts off the part that was allocated and never written.
  void end_segment();
  int allocate(uint64_t number, uint64_t capacity, Descriptor& file) const;
  uint64_t bytes_on_disk() const;
  // Returns whether there was a segment.
  bool remove_oldest();
  std::string path(uint64_t number) const;

  const Options options_;
  Descriptor folder_;
  Descriptor lock_;
  Descriptor file_;
  std::vector<File> files_;  // all files on disk, oldest first
  std::string copy_;         // the header of the current segment, as a record
  uint64_t next_number_ = 1;
  uint64_t at_ = 0;  // position in the current segment
  uint64_t capacity_ = 0;
  uint64_t written_ = 0;
  uint64_t removed_for_room_ = 0;
};

}  // namespace umaprobe

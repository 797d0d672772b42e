// The files of a recording: a ring of segments, each a header and records that are only appended.
// lib/run/record/format.ts reads them. All numbers are little-endian, whatever the machine.
//
//   segment  "UMAREC1\n", u32 length and u32 CRC-32 of a JSON text, the text, padding to 8 bytes
//   record   u32 type, u32 length of the payload, u32 CRC-32 of type, length and payload, u32 0,
//            the payload, padding to 8 bytes
//
// Notes of type "segment" are copies of the header.
// A segment is allocated in full before it is written, so its unwritten part is zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace umaprobe {

inline constexpr std::string_view kSegmentMagic = "UMAREC1\n";
// A frame as a record.
inline constexpr size_t kFrameBytes = 16 + 104;

enum class RecordType : uint32_t { kFrame = 1, kNote = 2 };

// Readings of one frame, some tens of milliseconds. Bytes; -1: not read.
struct Frame {
  struct Range {
    int64_t last = -1, lowest = -1, highest = -1;

    void add(int64_t value) {
      last = value;
      if (lowest < 0 || value < lowest) lowest = value;
      if (value > highest) highest = value;
    }
  };

  int64_t start_us = 0;  // CLOCK_BOOTTIME, which goes on while the machine sleeps
  uint32_t duration_us = 0;
  uint32_t samples = 0;
  Range free;                 // MemFree, read at each sample
  Range available;            // MemAvailable, read at most every 10 ms
  uint32_t lowest_at_us = 0;  // time of the lowest MemFree, from the start of the frame
  uint32_t lost = 0;          // frames that could not be kept before this one
  int64_t some_us = -1;       // PSI of memory since boot
  int64_t full_us = -1;
  int64_t swap_free = -1;
  int64_t dirty = -1;
};

uint32_t crc32(std::string_view bytes, uint32_t before = 0);

// Append to `out`.
void append_segment_header(std::string& out, std::string_view json);
void append_frame(std::string& out, const Frame& frame);
void append_note(std::string& out, std::string_view json);

}  // namespace umaprobe

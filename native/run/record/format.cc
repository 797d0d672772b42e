#include "run/record/format.h"

#include <array>

namespace umaprobe {
namespace {

// The polynomial of zlib, so that any tool can check a record.
constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++)
      value = (value & 1) != 0 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

template <class Number>
void append(std::string& out, Number number) {
  for (size_t byte = 0; byte < sizeof number; byte++) {
    out.push_back(static_cast<char>(static_cast<uint64_t>(number) >> (8 * byte)));
  }
}

void pad(std::string& out, size_t start) {
  while ((out.size() - start) % 8 != 0) out.push_back('\0');
}

void append_record(std::string& out, RecordType type, std::string_view payload) {
  const size_t start = out.size();
  append(out, static_cast<uint32_t>(type));
  append(out, static_cast<uint32_t>(payload.size()));
  const uint32_t head = crc32(std::string_view(out).substr(start));
  append(out, crc32(payload, head));
  append(out, uint32_t{0});
  out.append(payload);
  pad(out, start);
}

void append_range(std::string& out, const Frame::Range& range) {
  append(out, range.last);
  append(out, range.lowest);
  append(out, range.highest);
}

}  // namespace

uint32_t crc32(std::string_view bytes, uint32_t before) {
  uint32_t value = ~before;
  for (const char byte : bytes)
    value = kTable[(value ^ static_cast<uint8_t>(byte)) & 0xFF] ^ (value >> 8);
  return ~value;
}

void append_segment_header(std::string& out, std::string_view json) {
  const size_t start = out.size();
  out.append(kSegmentMagic);
  append(out, static_cast<uint32_t>(json.size()));
  append(out, crc32(json));
  out.append(json);
  pad(out, start);
}

void append_frame(std::string& out, const Frame& frame) {
  std::string payload;
  append(payload, frame.start_us);
  append(payload, frame.duration_us);
  append(payload, frame.samples);
  append_range(payload, frame.free);
  append_range(payload, frame.available);
  append(payload, frame.lowest_at_us);
  append(payload, frame.lost);
  append(payload, frame.some_us);
  append(payload, frame.full_us);
  append(payload, frame.swap_free);
  append(payload, frame.dirty);
  append_record(out, RecordType::kFrame, payload);
}

void append_note(std::string& out, std::string_view json) {
  append_record(out, RecordType::kNote, json);
}

}  // namespace umaprobe

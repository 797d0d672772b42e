#include "js/path_text.h"

#include <algorithm>

namespace umaprobe {
namespace {

constexpr char16_t kEscape = 0xDC00;

unsigned char at(const std::string& bytes, size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
}

// Length of the well-formed UTF-8 sequence at `i`, and its code point. 0: not well-formed, which
// includes surrogates and overlong forms.
size_t decode_utf8(const std::string& bytes, size_t i, char32_t& point) {
  const unsigned char lead = at(bytes, i);
  if (lead < 0x80) return point = lead, 1;
  const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0) return 0;
  point = lead & (0x7Fu >> length);
  for (size_t k = 1; k < length; ++k) {
    if ((at(bytes, i + k) & 0xC0) != 0x80) return 0;
    point = point << 6 | (at(bytes, i + k) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point < kSmallest[length] || surrogate || point > 0x10FFFF ? 0 : length;
}

void append_utf8(std::string& bytes, char32_t point) {
  const auto put = [&bytes](char32_t byte) { bytes += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
  } else {
    put(0xF0 | point >> 18);
    put(0x80 | (point >> 12 & 0x3F));
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

bool is_low_surrogate(char16_t unit) { return unit >= 0xDC00 && unit < 0xE000; }
bool is_high_surrogate(char16_t unit) { return unit >= 0xD800 && unit < 0xDC00; }

}  // namespace

std::u16string utf16_of_path(const std::string& bytes) {
  std::u16string text;
  text.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    char32_t point = 0;
    const size_t length = decode_utf8(bytes, i, point);
    if (length == 0) {
      text += static_cast<char16_t>(kEscape + at(bytes, i));
    } else if (point < 0x10000) {
      text += static_cast<char16_t>(point);
    } else {
      text += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      text += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
    i += std::max<size_t>(length, 1);
  }
  return text;
}

std::string path_of_utf16(const std::u16string& text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const char16_t unit = text[i];
    if (is_high_surrogate(unit) && i + 1 < text.size() && is_low_surrogate(text[i + 1])) {
      append_utf8(bytes, 0x10000 + ((unit - 0xD800u) << 10) + (text[i + 1] - 0xDC00u));
      ++i;
    } else if (unit >= kEscape + 0x80 && unit <= kEscape + 0xFF) {
      bytes += static_cast<char>(unit - kEscape);
    } else {
      append_utf8(bytes, is_high_surrogate(unit) || is_low_surrogate(unit) ? 0xFFFD : unit);
    }
  }
  return bytes;
}

napi_value to_js(napi_env env, const PathText& path) {
  napi_value value = nullptr;
  const auto& bytes = path.bytes;
  if (std::all_of(bytes.begin(), bytes.end(),
                  [](char byte) { return static_cast<unsigned char>(byte) < 0x80; })) {
    napi_create_string_latin1(env, bytes.data(), bytes.size(), &value);
    return value;
  }
  const std::u16string text = utf16_of_path(bytes);
  napi_create_string_utf16(env, text.data(), text.size(), &value);
  return value;
}

}  // namespace umaprobe

#include "base/json_line.h"

#include <cstdarg>
#include <cstdio>

namespace umaprobe {

// Leaves room for "}\n".
void JsonLine::append(const char* format, ...) {
  const size_t room = text_.size() - 2 - size_;
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text_.data() + size_, room, format, arguments);
  va_end(arguments);
  if (length < 0 || static_cast<size_t>(length) >= room) return;
  if (size_ > 0) comma_ = ",";
  size_ += static_cast<size_t>(length);
}

JsonLine& JsonLine::text(const char* name, const char* value) {
  if (!value) return json(name, "null");
  char escaped[512];
  size_t size = 0;
  for (; *value != '\0' && size < sizeof escaped - 8; ++value) {
    const auto c = static_cast<unsigned char>(*value);
    if (c == '"' || c == '\\') escaped[size++] = '\\';
    if (c < 0x20) {
      size += static_cast<size_t>(std::snprintf(escaped + size, 7, "\\u%04x", c));
    } else {
      escaped[size++] = static_cast<char>(c);
    }
  }
  append("%s\"%s\":\"%.*s\"", comma_, name, static_cast<int>(size), escaped);
  return *this;
}

JsonLine& JsonLine::number(const char* name, double value) {
  if (!std::isfinite(value)) return json(name, "null");
  append("%s\"%s\":%.15g", comma_, name, value);
  return *this;
}

JsonLine& JsonLine::json(const char* name, std::string_view value) {
  append("%s\"%s\":%.*s", comma_, name, static_cast<int>(value.size()), value.data());
  return *this;
}

std::string_view JsonLine::line() {
  text_[size_] = '}';
  text_[size_ + 1] = '\n';
  return {text_.data(), size_ + 2};
}

}  // namespace umaprobe

// A JSON object on one line, in a buffer of its own: nothing is allocated. Fields that do not fit
// are left out.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/unknown.h"

namespace umaprobe {

class JsonLine {
 public:
  JsonLine() { append("{"); }

  // Fields of a structure by its visit(): TypeScript reads it by the same names.
  JsonLine& text(const char* name, const char* value);  // null: null
  JsonLine& number(const char* name, double value);     // kUnknown: null
  JsonLine& boolean(const char* name, bool value) { return json(name, value ? "true" : "false"); }
  JsonLine& json(const char* name, std::string_view value);
  template <class Record>
  JsonLine& object(const char* name, const Record& record) {
    append("%s\"%s\":{", comma_, name);
    comma_ = "";
    record.visit(*this);
    append("}");
    return *this;
  }

  // The object, and the newline.
  std::string_view line();

 private:
  void append(const char* format, ...) __attribute__((format(printf, 2, 3)));
  std::array<char, 24576> text_{};
  size_t size_ = 0;
  const char* comma_ = "";
};

}  // namespace umaprobe

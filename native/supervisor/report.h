// The report: one JSON object a line. A reader that is stopped or gone never delays the guard: what
// its pipe does not take is dropped, and `ended` says the actions again.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/descriptor.h"
#include "supervisor/judge.h"
#include "supervisor/reading.h"

namespace umaprobe {

// A JSON object in a buffer of its own. What does not fit is left out, field by field.
class JsonLine {
 public:
  explicit JsonLine(std::string_view event);

  JsonLine& text(const char* key, const char* value);  // null: null
  JsonLine& number(const char* key, double value, int decimals = 0);
  JsonLine& boolean(const char* key, bool value);
  JsonLine& raw(const char* key, std::string_view json);
  JsonLine& open(const char* key);  // an object, up to close()
  JsonLine& close();

  // The object, and the newline.
  std::string_view line();

 private:
  void append(const char* format, ...) __attribute__((format(printf, 2, 3)));
  std::array<char, 24576> text_{};
  size_t size_ = 0;
  const char* comma_ = ",";
};

struct Action {
  char at[32];
  const char* action;
  const char* reason;
  char target[256];  // of the whole system's; empty: there is one
  bool dry_run;
  int error;  // errno of what was tried; 0: done
  Reading reading;
  double slope;
  double seconds_to_floor;
};

// "2026-11-22T18:30:00.123Z" now.
void iso_time(char (&text)[32]);

class Report {
 public:
  // -1: none. Closed in the program.
  explicit Report(int fd);

  void write(JsonLine& line);
  void action(const Action& action);
  // Waits for the reader for a moment: it is the last line.
  void ended(JsonLine& line);

 private:
  // Whether nothing is left of an earlier line.
  bool flush();

  static constexpr size_t kKept = 16;
  const Descriptor fd_;
  std::array<char, 24576> rest_{};  // of a line that the pipe took in part
  size_t rest_size_ = 0;
  std::array<Action, kKept> actions_{};
  size_t action_count_ = 0;
};

}  // namespace umaprobe

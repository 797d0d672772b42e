// The report: one JSON object a line. A reader that is stopped or gone never delays the guard: what
// its pipe does not take is dropped, and `ended` says the actions again.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/descriptor.h"
#include "base/json_line.h"
#include "run/supervisor/judge.h"
#include "run/supervisor/lines.h"
#include "run/supervisor/reading.h"

namespace umaprobe {

struct Action {
  char at[32];
  const char* action;
  const char* reason;
  char target[256];  // of the whole system's; empty: there is one
  bool dry_run;
  int error;  // errno of what was tried; 0: done
  Reading reading;
  double others_grew;
  double slope;
  double seconds_to_floor;
};

// "2026-11-22T18:30:00.123Z" now.
void iso_time(char (&text)[32]);

class Report {
 public:
  // -1: none. Closed in the program.
  explicit Report(int fd);

  // A line of lines.h.
  template <class Line>
  void write(const Line& line) {
    if (!fd_) return;
    JsonLine json = json_of(line);
    send(json);
  }
  void action(const Action& action);
  // Each waits for the reader for a moment: it is the last line.
  void ended(EndedLine line);
  void failed(const FailedLine& line) { send_last(json_of(line)); }
  // Nobody reads any longer: from now on actions are lines of the system's log.
  void leave();

 private:
  template <class Line>
  static JsonLine json_of(const Line& line) {
    JsonLine json;
    json.text("event", Line::kEvent);
    line.visit(json);
    return json;
  }
  void send(JsonLine& line);
  void send_last(JsonLine line);
  // Whether nothing is left of an earlier line.
  bool flush();

  static constexpr size_t kKept = 16;
  Descriptor fd_, log_;
  std::array<char, 24576> rest_{};  // of a line that the pipe took in part
  size_t rest_size_ = 0;
  std::array<Action, kKept> actions_{};
  size_t action_count_ = 0;
};

}  // namespace umaprobe

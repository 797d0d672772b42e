// The report: one JSON object a line. A reader that is stopped or gone never delays the guard:
// lines that the pipe does not take are dropped, and `ended` repeats the actions.
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
  char target[256];  // one of the whole system's targets; empty: there is only one
  bool dry_run;
  int error;  // errno of the action; 0: it was done
  Reading reading;
  double others_grew;
  double slope;
  double seconds_to_floor;
};

// Writes the present time: "2026-11-22T18:30:00.123Z".
void iso_time(char (&text)[32]);

class Report {
 public:
  // `fd`: -1 is no report. The descriptor is closed in the program.
  explicit Report(int fd);

  // A line of lines.h.
  template <class Line>
  void write(const Line& line) {
    if (!fd_) return;
    JsonLine json = json_of(line);
    send(json);
  }
  void action(const Action& action);
  // The last line, ended() or failed(), waits a moment for the reader.
  void ended(EndedLine line);
  void failed(const FailedLine& line) { send_last(json_of(line)); }
  // Writes actions to the system's log from now on, because nobody reads any longer.
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
  // Returns whether nothing is left of an earlier line.
  bool flush();

  static constexpr size_t kKept = 16;
  Descriptor fd_, log_;
  std::array<char, 24576> rest_{};  // rest of a line that the pipe took in part
  size_t rest_size_ = 0;
  std::array<Action, kKept> actions_{};
  size_t action_count_ = 0;
};

}  // namespace umaprobe

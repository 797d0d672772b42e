// The command line: --key=value … -- FILE ARG…
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>

#include "supervisor/rules.h"

namespace umaprobe {

struct SupervisorOptions {
  Rules rules;
  double interval = 0;  // seconds between two readings
  ReadEvery read_every;
  double grace = 0;     // seconds from SIGTERM to SIGKILL
  double report = 0.1;  // seconds between two readings in the report
  bool act = true;      // false: judges and reports only
  bool drop = false;    // while the program loads
  bool compact = false;
  double load_free = 0;   // MemFree below which they are done, bytes
  double load_every = 1;  // seconds
  bool tty = false;       // the program gets the terminal
  int report_fd = -1;
  int control_fd = -1;
  int readings_fd = -1;  // shared memory for a recorder
  pid_t parent = 0;

  // Exactly one of them.
  char** command = nullptr;
  pid_t target_pid = 0;
  std::string target_cgroup;
  bool target_system = false;
  std::string replay;  // file
};

// The options, or what is wrong in one line.
std::variant<SupervisorOptions, std::string> parse_options(int argc, char** argv);

}  // namespace umaprobe

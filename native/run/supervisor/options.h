// The command line: --name=value … -- FILE ARG… The names are those of guard/protocol.h.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "guard/protocol.h"

namespace umaprobe {

struct SupervisorOptions {
  ProgramRules rules;
  bool act = true;    // false: judges and reports only
  bool drop = false;  // while the program loads
  bool compact = false;
  int nicer = 0;     // the program, where the guard is not urgent
  bool tty = false;  // the program has the terminal
  int report_fd = -1;
  int control_fd = -1;
  int signals_fd = -1;   // gives signals for the program
  int readings_fd = -1;  // shared memory for a recorder
  pid_t parent = 0;
  double open_files = kUnknown;  // soft limit of the program
  bool ignore_hangup = false;    // as after nohup(1)

  std::vector<char*> notify;  // a command that is run after a stop; empty: none

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

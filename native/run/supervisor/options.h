// The command line: --name=value … -- FILE ARG… It has only the values that differ between runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "run/supervisor/rules.h"

namespace umaprobe {

// --load=drop,compact,free:N,step:N,least:N, actions while the program loads.
struct LoadOptions {
  double drop = 0, compact = 0;  // the actions
  double free_bytes = kUnknown;  // they run while MemFree is below this
  double step_bytes = kUnknown;  // the program loads while its memory grows by this much
  double least_bytes = 0;        // and while the program holds less than this
};

// --fds=report:N,control:N,signals:N,readings:N; -1: none.
struct Descriptors {
  int report = -1;
  int control = -1;   // gives the lines of control_word
  int signals = -1;   // gives signals for the program: PassedSignal
  int readings = -1;  // shared memory for a recorder
};

// --program=tty,parent:N,openFiles:N,nohup,nicer: the program as umaprobe would run it.
struct ProgramOptions {
  int tty = 0;          // the program has the terminal
  int parent = 0;       // the process that stops and goes on with it
  int open_files = -1;  // its soft limit; -1: as it is
  int nohup = 0;        // the program ignores SIGHUP, as after nohup(1)
  int nicer = 0;        // the program yields if the guard is not urgent
};

struct SupervisorOptions {
  Rules rules;
  bool act = true;  // --act=0: judges and reports only
  LoadOptions load;
  Descriptors fds;
  ProgramOptions program;

  std::vector<char*> notify;  // a command that is run after a stop; empty: none

  // Exactly one of these is set.
  char** command = nullptr;
  pid_t target_pid = 0;
  std::string target_cgroup;
  bool target_system = false;
  std::string replay;  // file
};

// Returns the options, or what is wrong in one line.
std::variant<SupervisorOptions, std::string> parse_options(int argc, char** argv);

}  // namespace umaprobe

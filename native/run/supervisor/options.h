// The command line: --name=value … -- FILE ARG… Only what differs between runs is said there.
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "run/supervisor/rules.h"

namespace umaprobe {

// --load=drop,compact,free:N,step:N,least:N, of the program while it loads.
struct LoadOptions {
  double drop = 0, compact = 0;  // what is done then
  double free_bytes = kUnknown;  // MemFree below which it is
  double step_bytes = kUnknown;  // the program loads while its memory grows by so much
  double least_bytes = 0;        // and while it holds less than this
};

// --fds=report:N,control:N,signals:N,readings:N; -1: none.
struct Descriptors {
  int report = -1;
  int control = -1;   // gives the lines of control_word
  int signals = -1;   // gives signals for the program: PassedSignal
  int readings = -1;  // shared memory for a recorder
};

// --program=tty,parent:N,openFiles:N,nohup,nicer: what the program is to umaprobe.
struct ProgramOptions {
  int tty = 0;          // it has the terminal
  int parent = 0;       // the process that stops and goes on with it
  int open_files = -1;  // its soft limit; -1: as it is
  int nohup = 0;        // it ignores SIGHUP, as after nohup(1)
  int nicer = 0;        // it yields, where the guard is not urgent
};

struct SupervisorOptions {
  Rules rules;
  bool act = true;  // --act=0: judges and reports only
  LoadOptions load;
  Descriptors fds;
  ProgramOptions program;

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

// The simulated files of single processes. A scripted process has the files that nvtop, btop, ps
// and psutil read; a real process on the machine has statm and cgroup.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

enum class ProcessFile { kNone, kComm, kStatm, kCgroup, kCmdline, kStat, kStatus };

// The file and pid of a path such as "/proc/<pid>/statm" or "/proc/self/statm"; kNone for others.
ProcessFile process_file(const char* path, int* pid);
// Returns whether the machine simulates this file of a scripted process or of a client. The files
// of all other processes are left to the real Linux.
bool knows_process(const State& state, ProcessFile file, int pid);
// Returns whether the path is the directory of a scripted process that still runs: "/proc/<pid>".
bool is_scripted_directory(const State& state, const char* path);
// The names of the files in it.
extern const char* const kProcessFileNames[6];
// The text of a file. Returns 0 or -ENOENT.
int process_text(const State& state, ProcessFile file, int pid, std::string* text);

}  // namespace umasim

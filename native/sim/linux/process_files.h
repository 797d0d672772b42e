// What the simulated kernel says of single processes.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

enum class ProcessFile { kNone, kComm, kStatm, kCgroup };

// "/proc/<pid>/statm" or "/proc/self/statm" → the file and the pid; kNone when the path is another.
ProcessFile process_file(const char* path, int* pid);
// Whether the machine itself knows this file of this process: a scripted one, or one that has been
// on the machine. Others are left to the real kernel.
bool knows_process(const State& state, ProcessFile file, int pid);
// 0 or -ENOENT.
int process_text(const State& state, ProcessFile file, int pid, std::string* text);

}  // namespace umasim

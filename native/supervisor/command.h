// Starts the program as if nothing were in between.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "supervisor/cgroup.h"
#include "supervisor/protection.h"
#include "supervisor/terminal.h"

namespace umaprobe {

// Runs FILE ARG… in a new process group and in `cgroup`, if that is one, with the signal mask
// `signals`. 0, or the errno of what failed: then nothing runs.
int start_command(char** command, const Protection& protection, const Terminal& terminal,
                  const Cgroup& cgroup, const sigset_t& signals, pid_t& pid);

}  // namespace umaprobe

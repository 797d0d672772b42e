// Starts the program as if nothing were in between.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "run/supervisor/cgroup.h"
#include "run/supervisor/job.h"
#include "run/supervisor/options.h"
#include "run/supervisor/protection.h"

namespace umaprobe {

// Runs FILE ARG… of `options` in the process group of the job and in `cgroup`, if that is one, with
// the signal mask `signals`, and by `nicer` nicer than this process was. Returns 0, or the errno of
// the step that failed: then nothing runs.
int start_command(const SupervisorOptions& options, const Protection& protection, int nicer,
                  const Job& job, const Cgroup& cgroup, const sigset_t& signals, pid_t& pid);

// Puts the bytes that process `parent` was started with back into the words of `command`, which are
// the last ones of its command line, and into the variables of this process: Node reads both as
// UTF-8, with U+FFFD in place of other bytes. Changes nothing if they are not the same words.
void restore_bytes(pid_t parent, char** command);

}  // namespace umaprobe

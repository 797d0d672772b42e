// Control files (drop_caches, compact_memory) that a program opened by itself. The kernel would act
// on the write; here the descriptor is of an ordinary file beside the state file, opened to append,
// and what was written to it is carried out when somebody next looks at the machine. So a write
// works from a shell, through dup2() and from children, without a thread to watch for it.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// A descriptor to write to, or -errno: a cgroup's memory.reclaim has no such file, as nobody would
// hear that there was less than asked for. `flags` as of open().
int open_mailbox(State& state, Control control, int flags);
// Carries out what was written. Under the lock.
void deliver_mail(State& state);

// What a write to the file itself does: 0, or -EINVAL. Under the lock. `pid` goes on record, 0 when
// it is not known who wrote; the bytes that became free are in `freed`.
int control(State& state, Control control, int pid, const char* data, size_t size, uint64_t* freed);

}  // namespace umasim

// The bytes of arguments and variables: Node reads them as UTF-8, with U+FFFD in place of others.
#pragma once

#include <sys/types.h>

namespace umaprobe {

// Puts the bytes that process `parent` was started with back into the words of `command`, which are
// the last ones of its command line, and into the variables of this process. Changes nothing if
// they are not the same words.
void restore_bytes(pid_t parent, char** command);

}  // namespace umaprobe

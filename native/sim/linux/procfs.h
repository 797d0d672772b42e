// The files of the simulated kernel: which there are, who may open them, and what is in them.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// What a path is on this machine. `access`: O_RDONLY, O_WRONLY or O_RDWR. 0, -ENOENT (not a file of
// the simulated kernel) or -EACCES.
int may_open(const State& state, const char* path, int access);
// Text of a file that may be read. 0 or -errno.
int read_file(State& state, const char* path, std::string* text);
// Names under a directory, each with a newline. 0 or -errno.
int list_directory(State& state, const char* path, std::string* names);
// Whether writing the file is an order to the kernel, and which.
bool is_control(const char* path, Control* control);

}  // namespace umasim

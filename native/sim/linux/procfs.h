// The files of the simulated Linux under /proc and /sys: their rights and contents.
#pragma once
#include <set>
#include <string>

#include "sim/state/state.h"

namespace umasim {

// Returns whether the machine answers for a path, if only that there is no such file. All other
// paths are left to the real Linux.
bool is_simulated(const State& state, const char* path);
// Tells whether this user may open a path; `access` is O_RDONLY, O_WRONLY or O_RDWR. Returns 0,
// -EACCES, or -ENOENT for a path that is not simulated.
int may_open(const State& state, const char* path, int access);
// The stat() of a simulated file, or of the directory of a scripted process.
struct FileStatus {
  int error;      // 0 or -ENOENT
  unsigned mode;  // type and rights
};
FileStatus file_status(const State& state, const char* path);
// The text of a readable file. Returns 0 or -errno.
int read_file(const State& state, const char* path, std::string* text);
// The names in a directory of which the machine says that they are there, or that they are not.
enum class Names { kPresent, kAbsent };
std::set<std::string> names_in(const State& state, const std::string& directory, Names which);
// The names in a directory, each followed by a newline. Returns 0 or -errno.
int list_directory(const State& state, const char* path, std::string* names);
// Returns whether the path is a control file, and which.
bool find_control_file(const char* path, ControlFile* file);

}  // namespace umasim

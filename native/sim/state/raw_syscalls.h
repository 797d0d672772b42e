// Direct system calls. A preloaded libumasim replaces open(), so its own file access must bypass
// libc.
#pragma once
#include <cstddef>
#include <string>

namespace umasim {

// Returns a file descriptor or -errno. Adds O_CLOEXEC.
int raw_open(const char* path, int flags, int mode = 0);
void raw_close(int fd);
// Returns at most `limit` bytes of a file, or an empty string if the file is unreadable.
std::string raw_read_file(const char* path, size_t limit);

}  // namespace umasim

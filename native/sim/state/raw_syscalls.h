// System calls made directly. This library may be preloaded, and then open() is its own: its own
// file access must not come back to itself.
#pragma once
#include <cstddef>
#include <string>

namespace umasim {

// File descriptor (O_CLOEXEC added) or -errno.
int raw_open(const char* path, int flags, int mode = 0);
void raw_close(int fd);
// At most `limit` bytes of a file; empty when it cannot be read.
std::string raw_read_file(const char* path, size_t limit);

}  // namespace umasim

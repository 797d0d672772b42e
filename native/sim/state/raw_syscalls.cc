#include "sim/state/raw_syscalls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace umasim {

int raw_open(const char* path, int flags, int mode) {
  const long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

void raw_close(int fd) { syscall(SYS_close, fd); }

std::string raw_read_file(const char* path, size_t limit) {
  const int fd = raw_open(path, O_RDONLY);
  if (fd < 0) return {};
  std::string text(limit, '\0');
  size_t length = 0;
  while (length < limit) {
    const long n = syscall(SYS_read, fd, &text[length], limit - length);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    length += static_cast<size_t>(n);
  }
  raw_close(fd);
  text.resize(length);
  return text;
}

}  // namespace umasim

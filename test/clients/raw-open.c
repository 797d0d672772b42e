/* raw-open [-w] PATH...: prints files, or with -w opens them for writing, with system calls of its
 * own, as a program in Go does; linked statically, it cannot be preloaded either. The exit code is
 * the errno of a file that cannot be opened. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char text[1 << 16];
  const int writes = argc > 1 && strcmp(argv[1], "-w") == 0;
  for (int i = writes ? 2 : 1; i < argc; i++) {
    const long fd = syscall(SYS_openat, AT_FDCWD, argv[i], writes ? O_WRONLY : O_RDONLY);
    if (fd < 0) return errno;
    for (long n; !writes && (n = syscall(SYS_read, fd, text, sizeof text)) > 0;) {
      if (syscall(SYS_write, 1, text, n) != n) return EIO;
    }
    syscall(SYS_close, fd);
  }
  return 0;
}

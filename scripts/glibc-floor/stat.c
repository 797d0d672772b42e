// stat and its kin became functions of glibc 2.33; before that they were inlined into calls with a
// version number. On the two architectures we ship, the kernel's struct stat is glibc's.
//
// They are weak: libumasim defines its own, for programs on a simulated machine.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

// The kernel's call, and not one of the functions below, which another definition may replace.
static int read_status(int folder, const char* path, void* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}

WEAK int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return read_status(folder, path, result, flags);
}

WEAK int stat(const char* path, struct stat* result) {
  return read_status(AT_FDCWD, path, result, 0);
}

WEAK int lstat(const char* path, struct stat* result) {
  return read_status(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

WEAK int fstat(int file, struct stat* result) {
  return read_status(file, "", result, AT_EMPTY_PATH);
}

// The same functions under the names that LARGEFILE code calls: one struct on 64-bit Linux.
WEAK int fstatat64(int folder, const char* path, struct stat64* result, int flags) {
  return read_status(folder, path, result, flags);
}

WEAK int stat64(const char* path, struct stat64* result) {
  return read_status(AT_FDCWD, path, result, 0);
}

WEAK int lstat64(const char* path, struct stat64* result) {
  return read_status(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

WEAK int fstat64(int file, struct stat64* result) {
  return read_status(file, "", result, AT_EMPTY_PATH);
}

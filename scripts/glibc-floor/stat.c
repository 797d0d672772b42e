// stat and its kin became functions of glibc 2.33; before that they were inlined into calls with a
// version number. On the two architectures we ship, the kernel's struct stat is glibc's.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}

int stat(const char* path, struct stat* result) { return fstatat(AT_FDCWD, path, result, 0); }

int lstat(const char* path, struct stat* result) {
  return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

int fstat(int file, struct stat* result) { return fstatat(file, "", result, AT_EMPTY_PATH); }

// The same functions under the names that LARGEFILE code calls: one struct on 64-bit Linux.
int fstatat64(int folder, const char* path, struct stat64* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}

int stat64(const char* path, struct stat64* result) { return fstatat64(AT_FDCWD, path, result, 0); }

int lstat64(const char* path, struct stat64* result) {
  return fstatat64(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}

int fstat64(int file, struct stat64* result) { return fstatat64(file, "", result, AT_EMPTY_PATH); }

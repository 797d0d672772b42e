// The functions that a preloaded libumasim replaces, so a program opens the simulated files of
// /proc and /sys. A reader gets a memfd with the text; a seek to the beginning, or pread() at 0,
// renews the text, as in /proc. A writer gets a descriptor of open_control_file(). All other paths
// go to the next open().
#include "sim/abi/interpose.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sim/abi/export.h"
#include "sim/gpu/session.h"
#include "sim/linux/control_files.h"
#include "sim/linux/locked.h"
#include "sim/linux/procfs.h"
#include "sim/linux/replaced_files.h"
#include "sim/state/raw_syscalls.h"

// This file defines functions of these names, so the headers' macros for fortified and large-file
// variants must go.
#undef open
#undef open64
#undef openat
#undef openat64
#undef fopen
#undef fopen64
#undef lseek
#undef lseek64
#undef pread
#undef pread64

namespace umasim {

bool preloaded() {
  static const bool answer = [] {
    Dl_info info;
    const char* list = std::getenv("LD_PRELOAD");
    if (list == nullptr || dladdr(reinterpret_cast<void*>(&preloaded), &info) == 0) return false;
    const char* slash = std::strrchr(info.dli_fname, '/');
    return std::strstr(list, slash == nullptr ? info.dli_fname : slash + 1) != nullptr;
  }();
  return answer;
}

bool may_be_simulated(const char* path) {
  return path != nullptr &&
         (std::strncmp(path, "/proc/", 6) == 0 || std::strncmp(path, "/sys/", 5) == 0) &&
         preloaded();
}

namespace {

constexpr char kMemfdPrefix[] = "umasim:";
constexpr int kNotSimulated = -4096;  // no -errno

int write_text(int fd, const std::string& text) {
  if (ftruncate(fd, 0) != 0) return -errno;
  const long written = syscall(SYS_pwrite64, fd, text.data(), text.size(), 0L);
  return written == static_cast<long>(text.size()) ? 0 : -EIO;
}

// Returns 0, -errno or kNotSimulated.
int text_of(Session& current, const char* path, std::string* text) {
  wait_for_file(*current.state, path);
  const Locked locked(*current.state);
  if (!locked.held() || !is_simulated(*current.state, path)) return kNotSimulated;
  const int status = may_open(*current.state, path, O_RDONLY);
  return status != 0 ? status : read_file(*current.state, path, text);
}

// Returns a descriptor, -1 with errno set, or kNotSimulated.
int open_simulated(const char* path, int flags) {
  Session* current = session();
  if (current == nullptr) return kNotSimulated;
  const int access = flags & O_ACCMODE;
  int status;
  std::string text;
  if (access == O_RDONLY) {
    status = text_of(*current, path, &text);
  } else {
    const Locked locked(*current->state);
    const bool simulated = locked.held() && is_simulated(*current->state, path);
    status = simulated ? may_open(*current->state, path, access) : kNotSimulated;
    ControlFile file;
    if (status == 0) {
      status = find_control_file(path, &file) ? open_control_file(*current->state, file, flags)
                                              : -EACCES;
    }
    if (status >= 0) return status;
  }
  if (status == kNotSimulated) return kNotSimulated;
  int fd = -1;
  if (status == 0) {
    const std::string name = kMemfdPrefix + std::string(path);
    fd = memfd_create(name.c_str(), (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    status = fd < 0 ? -errno : write_text(fd, text);
  }
  if (status == 0) return fd;
  if (fd >= 0) raw_close(fd);
  errno = -status;
  return -1;
}

// Renews the text behind the descriptor. Returns whether it is that of a simulated file.
bool refresh(int fd) {
  char link[40], target[192];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
  if (length <= 0) return false;
  target[length] = '\0';
  const std::string prefix = std::string("/memfd:") + kMemfdPrefix;
  if (std::strncmp(target, prefix.c_str(), prefix.size()) != 0) return false;
  const std::string path(target + prefix.size(), std::strcspn(target + prefix.size(), " "));
  Session* current = session();
  std::string text;
  if (current != nullptr && text_of(*current, path.c_str(), &text) == 0) write_text(fd, text);
  return true;
}

int open_or_forward(const char* name, const char* path, int flags, unsigned mode) {
  if (may_be_simulated(path)) {
    const int fd = open_simulated(path, flags);
    if (fd != kNotSimulated) return fd;
  }
  return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

int openat_or_forward(const char* name, int directory, const char* path, int flags, unsigned mode) {
  if (may_be_simulated(path)) {
    const int fd = open_simulated(path, flags);
    if (fd != kNotSimulated) return fd;
  }
  return next<int(int, const char*, int, ...)>(name)(directory, path, flags, mode);
}

FILE* fopen_or_forward(const char* name, const char* path, const char* mode) {
  if (may_be_simulated(path)) {
    const bool reads = mode[0] == 'r', both = std::strchr(mode, '+') != nullptr;
    const int access = both ? O_RDWR : reads ? O_RDONLY : O_WRONLY;
    const int close = std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0;
    const int fd = open_simulated(path, access | close);
    if (fd == -1) return nullptr;
    if (fd != kNotSimulated) return fdopen(fd, reads ? "r" : "w");
  }
  return next<FILE*(const char*, const char*)>(name)(path, mode);
}

off_t refresh_and_seek(const char* name, int fd, off_t offset, int whence) {
  if (offset == 0 && whence == SEEK_SET && preloaded()) refresh(fd);
  return next<off_t(int, off_t, int)>(name)(fd, offset, whence);
}

void refresh_and_rewind(FILE* stream) {
  // The old text is in the buffer, and a seek inside it reads nothing; after fflush() the C library
  // seeks in the file.
  if (preloaded() && refresh(fileno(stream))) fflush(stream);
  next<void(FILE*)>("rewind")(stream);
}

ssize_t refresh_and_pread(const char* name, int fd, void* buffer, size_t size, off_t offset) {
  if (offset == 0 && preloaded()) refresh(fd);
  return next<ssize_t(int, void*, size_t, off_t)>(name)(fd, buffer, size, offset);
}

// The mode argument, which exists only with these flags.
unsigned mode_of(int flags, va_list& rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, unsigned) : 0;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define UMASIM_OPEN(name)                                 \
  UMASIM_API int name(const char* path, int flags, ...) { \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    const unsigned mode = mode_of(flags, rest);           \
    va_end(rest);                                         \
    return open_or_forward(#name, path, flags, mode);     \
  }
#define UMASIM_OPENAT(name)                                              \
  UMASIM_API int name(int directory, const char* path, int flags, ...) { \
    va_list rest;                                                        \
    va_start(rest, flags);                                               \
    const unsigned mode = mode_of(flags, rest);                          \
    va_end(rest);                                                        \
    return openat_or_forward(#name, directory, path, flags, mode);       \
  }
UMASIM_OPEN(open)
UMASIM_OPEN(open64)
UMASIM_OPENAT(openat)
UMASIM_OPENAT(openat64)

// open() in programs built with _FORTIFY_SOURCE.
UMASIM_API int __open_2(const char* path, int flags) {
  return open_or_forward(__func__, path, flags, 0);
}
UMASIM_API int __open64_2(const char* path, int flags) {
  return open_or_forward(__func__, path, flags, 0);
}
UMASIM_API int __openat_2(int directory, const char* path, int flags) {
  return openat_or_forward(__func__, directory, path, flags, 0);
}
UMASIM_API int __openat64_2(int directory, const char* path, int flags) {
  return openat_or_forward(__func__, directory, path, flags, 0);
}

UMASIM_API FILE* fopen(const char* path, const char* mode) {
  return fopen_or_forward(__func__, path, mode);
}
UMASIM_API FILE* fopen64(const char* path, const char* mode) {
  return fopen_or_forward(__func__, path, mode);
}

UMASIM_API void rewind(FILE* stream) { refresh_and_rewind(stream); }

UMASIM_API off_t lseek(int fd, off_t offset, int whence) noexcept {
  return refresh_and_seek(__func__, fd, offset, whence);
}
UMASIM_API off64_t lseek64(int fd, off64_t offset, int whence) noexcept {
  return refresh_and_seek(__func__, fd, offset, whence);
}
UMASIM_API ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  return refresh_and_pread(__func__, fd, buffer, size, offset);
}
UMASIM_API ssize_t pread64(int fd, void* buffer, size_t size, off64_t offset) {
  return refresh_and_pread(__func__, fd, buffer, size, offset);
}

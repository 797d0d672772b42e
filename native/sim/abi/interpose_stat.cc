// stat(), access() and their variants in a preloaded program, for the simulated files, for the
// directories of scripted processes, and for directories that only the simulated machine has.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

#include "sim/abi/export.h"
#include "sim/abi/interpose.h"
#include "sim/gpu/session.h"
#include "sim/linux/locked.h"
#include "sim/linux/procfs.h"

#undef stat
#undef stat64
#undef lstat
#undef lstat64
#undef fstatat
#undef fstatat64

namespace umasim {
namespace {

// The moment at which the machine is asked about a path: before the real Linux, or after it knew no
// such path.
enum class When { kFirst, kInsteadOfNothing };

// Sets `status` if the machine answers for the path.
bool simulated_status(const char* path, When when, FileStatus* status) {
  Session* current = may_be_simulated(path) ? session() : nullptr;
  if (current == nullptr) return false;
  const State& state = *current->state;
  const Locked locked(*current->state);
  if (!locked.held()) return false;
  if (when == When::kFirst) {
    *status = file_status(state, path);
    return status->error == 0 || is_simulated(state, path);
  }
  std::string names;
  *status = {0, S_IFDIR | 0555};
  return list_directory(state, path, &names) == 0;
}

// A number that is the same for every call with the path.
ino_t inode_of(const char* path) { return std::hash<std::string>()(path); }

template <typename Stat>
void fill(const char* path, const FileStatus& status, Stat* out) {
  const bool directory = S_ISDIR(status.mode);
  // The fields that programs do not look at are those of /proc itself.
  struct stat proc {};
  // glibc before 2.33 has no fstatat.
  syscall(SYS_newfstatat, AT_FDCWD, "/proc", &proc, 0);
  *out = {};
  out->st_dev = proc.st_dev;
  out->st_ino = inode_of(path);
  out->st_mode = status.mode;
  out->st_nlink = directory ? 2 : 1;
  out->st_uid = getuid();
  out->st_gid = getgid();
  out->st_blksize = 1024;
  out->st_atim = out->st_mtim = out->st_ctim = proc.st_ctim;
}

void fill(const char* path, const FileStatus& status, struct statx* out) {
  struct stat plain {};
  fill(path, status, &plain);
  *out = {};
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_mode = static_cast<uint16_t>(plain.st_mode);
  out->stx_nlink = static_cast<uint32_t>(plain.st_nlink);
  out->stx_uid = plain.st_uid;
  out->stx_gid = plain.st_gid;
  out->stx_ino = plain.st_ino;
  out->stx_blksize = static_cast<uint32_t>(plain.st_blksize);
  out->stx_mtime.tv_sec = out->stx_ctime.tv_sec = out->stx_atime.tv_sec = plain.st_ctim.tv_sec;
}

// Answers for a simulated path, else with `real()`.
template <typename Stat, typename Real>
int stat_or_forward(const char* path, Stat* out, Real real) {
  FileStatus status;
  const bool first = simulated_status(path, When::kFirst, &status);
  if (!first) {
    const int result = real();
    if (result == 0 || errno != ENOENT) return result;
    if (!simulated_status(path, When::kInsteadOfNothing, &status)) {
      errno = ENOENT;
      return -1;
    }
  }
  if (status.error == 0) {
    fill(path, status, out);
    return 0;
  }
  errno = -status.error;
  return -1;
}

template <typename Real>
int access_or_forward(const char* path, int mode, Real real) {
  struct stat found;
  FileStatus status;
  if (!simulated_status(path, When::kFirst, &status)) {
    const int result = real();
    if (result == 0 || errno != ENOENT) return result;
  }
  const auto nothing = [] {
    errno = ENOENT;
    return -1;
  };
  if (stat_or_forward(path, &found, nothing) != 0) return -1;
  // Root passes every check, except that for execution; the rights of others are alike for all
  // users.
  const unsigned wanted = static_cast<unsigned>(mode) & 7u;
  const bool root = geteuid() == 0 && ((wanted & X_OK) == 0 || S_ISDIR(found.st_mode));
  if (root || (found.st_mode & wanted) == wanted) return 0;
  errno = EACCES;
  return -1;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

#define UMASIM_STAT(name, type)                                         \
  UMASIM_API int name(const char* path, struct type* out) noexcept {    \
    const auto real = next<int(const char*, struct type*)>(#name);      \
    return stat_or_forward(path, out, [&] { return real(path, out); }); \
  }
#define UMASIM_STATAT(name, type)                                                              \
  UMASIM_API int name(int directory, const char* path, struct type* out, int flags) noexcept { \
    const auto real = next<int(int, const char*, struct type*, int)>(#name);                   \
    return stat_or_forward(path, out, [&] { return real(directory, path, out, flags); });      \
  }
// The exports of glibc before 2.33, which older programs call.
#define UMASIM_XSTAT(name, type)                                                  \
  UMASIM_API int name(int version, const char* path, struct type* out) noexcept { \
    const auto real = next<int(int, const char*, struct type*)>(#name);           \
    return stat_or_forward(path, out, [&] { return real(version, path, out); });  \
  }
UMASIM_STAT(stat, stat)
UMASIM_STAT(stat64, stat64)
UMASIM_STAT(lstat, stat)
UMASIM_STAT(lstat64, stat64)
UMASIM_STATAT(fstatat, stat)
UMASIM_STATAT(fstatat64, stat64)
UMASIM_XSTAT(__xstat, stat)
UMASIM_XSTAT(__xstat64, stat64)
UMASIM_XSTAT(__lxstat, stat)
UMASIM_XSTAT(__lxstat64, stat64)

UMASIM_API int statx(int directory, const char* path, int flags, unsigned int mask,
                     struct statx* out) noexcept {
  const auto real = next<int(int, const char*, int, unsigned int, struct statx*)>(__func__);
  return stat_or_forward(path, out, [&] { return real(directory, path, flags, mask, out); });
}

UMASIM_API int access(const char* path, int mode) noexcept {
  const auto real = next<int(const char*, int)>(__func__);
  return access_or_forward(path, mode, [&] { return real(path, mode); });
}

UMASIM_API int faccessat(int directory, const char* path, int mode, int flags) noexcept {
  const auto real = next<int(int, const char*, int, int)>(__func__);
  return access_or_forward(path, mode, [&] { return real(directory, path, mode, flags); });
}

// umaprobe sim run --namespace: programs that make system calls themselves see the simulated files
// by mounts. UMASIM_MOUNTS names a file of lines "source TAB target" (lib/sim/namespace.ts writes
// it). A process that is started with this library preloaded and that variable enters a mount
// namespace of its own, mounts each source over its target, and becomes the program in its
// arguments. This happens before main(), because only a process with a single thread may enter a
// user namespace.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/abi/interpose.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

constexpr int kCannotStart = 126, kNotFound = 127;

[[noreturn]] void give_up(int exit_code, const std::string& what, const char* remedy = "") {
  std::fprintf(stderr, "umaprobe: %s: %s.%s\n", what.c_str(), std::strerror(errno), remedy);
  _exit(exit_code);
}

constexpr char kRemedy[] =
    " --namespace needs root, or user namespaces for this user "
    "(sysctl kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces above 0; in "
    "a container --privileged). Without it only programs that use libc see the simulated files.";

bool write_file(const char* path, const std::string& text) {
  const int fd = raw_open(path, O_WRONLY);
  if (fd < 0) return false;
  const bool written =
      syscall(SYS_write, fd, text.data(), text.size()) == static_cast<long>(text.size());
  raw_close(fd);
  return written;
}

// A new mount namespace, with a user namespace if this user may not have one otherwise. The user
// keeps his ids.
void enter_namespace() {
  const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) give_up(kCannotStart, "unshare", kRemedy);
    const bool mapped = write_file("/proc/self/setgroups", "deny") &&
                        write_file("/proc/self/uid_map", user + " " + user + " 1") &&
                        write_file("/proc/self/gid_map", group + " " + group + " 1");
    if (!mapped) give_up(kCannotStart, "the user namespace cannot be set up", kRemedy);
  }
  // Mounts of the namespace stay in it.
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    give_up(kCannotStart, "mounts cannot be made private", kRemedy);
  }
}

// The flags that a remount in a user namespace must keep.
unsigned long kept_flags(const std::string& target) {
  struct statvfs found {};
  unsigned long flags = 0;
  if (statvfs(target.c_str(), &found) != 0) return flags;
  if ((found.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((found.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((found.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if ((found.f_flag & ST_NOATIME) != 0) flags |= MS_NOATIME;
  if ((found.f_flag & ST_NODIRATIME) != 0) flags |= MS_NODIRATIME;
  if ((found.f_flag & ST_RELATIME) != 0) flags |= MS_RELATIME;
  return flags;
}

// Mounts read-only, because a write would not reach the machine.
void mount_over(const std::string& source, const std::string& target) {
  const unsigned long read_only = MS_BIND | MS_REMOUNT | MS_RDONLY;
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0 ||
      mount(nullptr, target.c_str(), nullptr, read_only | kept_flags(target), nullptr) != 0) {
    give_up(kCannotStart, "the simulated " + target + " cannot be mounted", kRemedy);
  }
}

// glibc passes the arguments of main() to the constructors of a library.
__attribute__((constructor)) void run_in_namespace(int, char** arguments, char**) {
  const char* list = std::getenv("UMASIM_MOUNTS");
  if (list == nullptr || !preloaded()) return;
  // The streams of the C++ library are not used: they would triple the size of this library if it
  // is linked in.
  constexpr size_t kMaxBytes = 1 << 20;
  const std::string lines = raw_read_file(list, kMaxBytes);
  unsetenv("UMASIM_MOUNTS");
  enter_namespace();
  for (size_t start = 0, end; (end = lines.find('\n', start)) != std::string::npos;
       start = end + 1) {
    const size_t tab = lines.find('\t', start);
    mount_over(lines.substr(start, tab - start), lines.substr(tab + 1, end - tab - 1));
  }
  execvp(arguments[1], arguments + 1);
  give_up(errno == ENOENT ? kNotFound : kCannotStart,
          std::string(arguments[1]) + " could not be started");
}

}  // namespace
}  // namespace umasim

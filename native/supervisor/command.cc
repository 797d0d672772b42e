#include "supervisor/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace umaprobe {
namespace {

[[noreturn]] void become(char** command, const Protection& protection, const Terminal& terminal,
                         const Cgroup& cgroup, const sigset_t& signals, int failed) {
  ::setpgid(0, 0);
  cgroup.join();
  terminal.give(::getpid());
  protection.undo_in_child();
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(command[0], command);
  const int error = errno;
  while (::write(failed, &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

}  // namespace

int start_command(char** command, const Protection& protection, const Terminal& terminal,
                  const Cgroup& cgroup, const sigset_t& signals, pid_t& pid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) become(command, protection, terminal, cgroup, signals, writer.get());
  // Both sides set it: whichever comes first.
  ::setpgid(pid, pid);
  writer.close();
  int error = 0;
  ssize_t count = 0;
  // Closed by the exec, or has the reason.
  while ((count = ::read(reader.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (count != sizeof error) return 0;
  ::waitpid(pid, nullptr, 0);
  terminal.take_back(pid);
  return error;
}

}  // namespace umaprobe

#include "run/supervisor/command.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace umaprobe {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_replaced(std::string_view word) { return word.find(kReplacement) != word.npos; }

// Reads the null-terminated texts of a file of /proc. They are never freed, because the program
// gets them.
const std::string& read_words(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  return *new std::string(std::istreambuf_iterator<char>(file), {});
}

template <class Use>
void each_word(const std::string& text, Use use) {
  for (size_t at = 0; at < text.size(); at += std::strlen(text.c_str() + at) + 1)
    use(const_cast<char*>(text.c_str()) + at);
}

void restore_command(pid_t parent, char** command) {
  size_t count = 0;
  bool any = false;
  for (; command[count]; ++count) any = any || is_replaced(command[count]);
  if (!any) return;
  std::vector<char*> theirs;
  each_word(read_words(parent, "cmdline"), [&](char* word) { theirs.push_back(word); });
  if (theirs.size() < count) return;
  char** const last = theirs.data() + theirs.size() - count;
  for (size_t at = 0; at < count; ++at) {
    if (!is_replaced(command[at]) && std::strcmp(command[at], last[at]) != 0) return;
  }
  for (size_t at = 0; at < count; ++at) command[at] = last[at];
}

void restore_environment(pid_t parent) {
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view ours = *variable;
    if (!is_replaced(ours)) continue;
    const std::string_view name = ours.substr(0, ours.find('=') + 1);
    each_word(read_words(parent, "environ"), [&](char* theirs) {
      if (std::string_view(theirs).substr(0, name.size()) == name) *variable = theirs;
    });
  }
}

// Forks a child that is in `cgroup` from its start. A process that joins a group makes the kernel
// wait until every processor has passed a quiet state (RCU): 13 ms. -1: the kernel cannot (before
// 5.7), or a sandbox refuses the call.
pid_t fork_into(const Cgroup& cgroup) {
  constexpr long kClone3 = 435;  // the same on all architectures; glibc 2.28 has no name for it
  constexpr uint64_t kIntoCgroup = 1ull << 33;
  struct {  // clone_args
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
        set_tid_size, cgroup;
  } arguments{};
  arguments.flags = kIntoCgroup;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<uint64_t>(cgroup.folder());
  return static_cast<pid_t>(::syscall(kClone3, &arguments, sizeof arguments));
}

// Undoes the changes that Node made in umaprobe.
void undo_node(const SupervisorOptions& options) {
  rlimit files;
  if (options.program.open_files >= 0 && ::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = std::min(static_cast<rlim_t>(options.program.open_files), files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  if (options.program.nohup != 0) ::signal(SIGHUP, SIG_IGN);
}

[[noreturn]] void become(const SupervisorOptions& options, const Protection& protection, int nicer,
                         const Job& job, const Cgroup& cgroup, bool joins, const sigset_t& signals,
                         int failed) {
  ::setpgid(0, job.is_shared() ? job.group() : 0);
  if (joins) cgroup.join();
  protection.undo_in_child(nicer);
  undo_node(options);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execvp(options.command[0], options.command);
  const int error = errno;
  while (::write(failed, &error, sizeof error) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

}  // namespace

void restore_bytes(pid_t parent, char** command) {
  if (parent == 0 || parent != ::getppid()) return;
  restore_command(parent, command);
  restore_environment(parent);
}

int start_command(const SupervisorOptions& options, const Protection& protection, int nicer,
                  const Job& job, const Cgroup& cgroup, const sigset_t& signals, pid_t& pid) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  const Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  pid = cgroup ? fork_into(cgroup) : -1;
  const bool joins = pid < 0;
  if (joins) pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) become(options, protection, nicer, job, cgroup, joins, signals, writer.get());
  writer.close();
  int error = 0;
  ssize_t count = 0;
  // The pipe is closed by the exec, or has the reason.
  while ((count = ::read(reader.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (count != sizeof error) return 0;
  ::waitpid(pid, nullptr, 0);
  return error;
}

}  // namespace umaprobe

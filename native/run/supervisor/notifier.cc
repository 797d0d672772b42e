#include "run/supervisor/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/unknown.h"

namespace umaprobe {
namespace {

constexpr std::chrono::milliseconds kLook(20);

void set(const char* name, const char* value) { ::setenv(name, value, 1); }

void set_environment(const Notice& notice) {
  char number[32];
  set("UMAPROBE_GUARD_ACTION", notice.action);
  set("UMAPROBE_GUARD_REASON", notice.reason);
  if (notice.target[0] != '\0') set("UMAPROBE_GUARD_TARGET", notice.target);
  if (known(notice.available)) {
    std::snprintf(number, sizeof number, "%.0f", notice.available);
    set("UMAPROBE_GUARD_AVAILABLE_BYTES", number);
  }
  if (notice.pid != 0) {
    std::snprintf(number, sizeof number, "%d", notice.pid);
    set("UMAPROBE_GUARD_PID", number);
  }
}

void handle_all(void (*handler)(int)) {
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, handler);
}

// The command is killed with its process group if it takes longer than `limit`.
Notified run(const std::vector<char*>& words, Clock::duration limit, const Notice& notice) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    handle_all(SIG_DFL);
    set_environment(notice);
    ::execvp(words[0], words.data());
    ::_exit(errno == ENOENT ? 127 : 126);
  }
  if (pid < 0) return {126, false};
  // A process in an uninterruptible call outlives SIGKILL: it is not waited for.
  constexpr std::chrono::seconds kToDie(1);
  const auto late_at = Clock::now() + limit, given_up_at = late_at + kToDie;
  bool late = false;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid, &status, WNOHANG)) == 0) {
    const auto now = Clock::now();
    if (now >= given_up_at) return {128 + SIGKILL, true};
    if (now >= late_at) {
      late = true;
      ::kill(-pid, SIGKILL);
    }
    ::poll(nullptr, 0, static_cast<int>(kLook.count()));
  }
  if (ended < 0) return {126, late};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), late};
}

// Messages are shorter than PIPE_BUF: each comes whole.
template <class Message>
bool read_message(int fd, Message& message) {
  ssize_t count = 0;
  while ((count = ::read(fd, &message, sizeof message)) < 0 && errno == EINTR) {
  }
  return count == sizeof message;
}

[[noreturn]] void serve(const std::vector<char*>& words, Clock::duration limit, int notices,
                        int answers) {
  ::setsid();
  ::prctl(PR_SET_NAME, "umaprobe-notify");
  constexpr int kMost = 1024;
  for (int fd = 3; fd < kMost; ++fd) {
    if (fd != notices && fd != answers) ::close(fd);
  }
  // The output of the program is the program's.
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  handle_all(SIG_IGN);
  for (Notice notice; read_message(notices, notice);) {
    const Notified notified = run(words, limit, notice);
    [[maybe_unused]] const ssize_t written = ::write(answers, &notified, sizeof notified);
  }
  ::_exit(0);
}

}  // namespace

int Notifier::start(std::vector<char*> words, double limit_s) {
  int down[2], up[2];
  if (::pipe2(down, O_CLOEXEC) != 0) return errno;
  Descriptor requests(down[0]);
  notices_ = Descriptor(down[1]);
  if (::pipe2(up, O_CLOEXEC) != 0) return errno;
  answers_ = Descriptor(up[0]);
  Descriptor answer(up[1]);
  words.push_back(nullptr);
  const auto limit = seconds(limit_s);
  const pid_t pid = ::fork();
  if (pid < 0) return errno;
  if (pid == 0) {
    // The parent of what remains ends at once.
    const pid_t remaining = ::fork();
    if (remaining == 0) serve(words, limit, requests.get(), answer.get());
    ::_exit(remaining < 0 ? errno : 0);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ::fcntl(notices_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(answers_.get(), F_SETFL, O_NONBLOCK);
  constexpr std::chrono::seconds kToAnswer(2);
  patience_ = std::chrono::duration_cast<std::chrono::milliseconds>(limit) + kToAnswer;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void Notifier::tell(const Notice& notice) {
  if (!notices_) return;
  if (::write(notices_.get(), &notice, sizeof notice) == sizeof notice) told_++;
}

bool Notifier::take(Notified& notified) {
  if (idle() || !read_message(answers_.get(), notified)) return false;
  ended_++;
  return true;
}

bool Notifier::wait(Notified& notified) {
  if (idle()) return false;
  pollfd ready{answers_.get(), POLLIN, 0};
  while (::poll(&ready, 1, static_cast<int>(patience_.count())) < 0 && errno == EINTR) {
  }
  return take(notified);
}

void Notifier::close() {
  notices_.close();
  answers_.close();
  ended_ = told_;
}

}  // namespace umaprobe

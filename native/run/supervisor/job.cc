#include "run/supervisor/job.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/digits.h"
#include "base/passed_signal.h"
#include "base/process_state.h"

namespace umaprobe {
namespace {

Descriptor open_process_file(pid_t pid, const char* name) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC));
}

// All signals stay pending. The last one carries the number of another signal, which is forgotten.
[[noreturn]] void be_witness(pid_t guard) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(0);
  ::prctl(PR_SET_NAME, "umaprobe-job");
  // A pipe that it held would never end.
  constexpr int kMost = 1024;
  for (int fd = 0; fd < kMost; ++fd) ::close(fd);
  sigset_t all, wake, forgotten;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  sigemptyset(&wake);
  sigaddset(&wake, SIGRTMAX);
  for (siginfo_t info{}, ignored;;) {
    if (::sigwaitinfo(&wake, &info) < 0 || info.si_pid != guard) continue;
    sigemptyset(&forgotten);
    sigaddset(&forgotten, info.si_value.sival_int);
    const timespec now{0, 0};
    while (::sigtimedwait(&forgotten, &ignored, &now) > 0) {
    }
  }
}

// SIGCONT takes pending stop signals away, and they take it away.
uint64_t opposites_of(int number) {
  constexpr auto bit = [](int each) { return uint64_t{1} << (each - 1); };
  switch (number) {
    case SIGCONT:
      return bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      return bit(SIGCONT);
    default:
      return 0;
  }
}

}  // namespace

Job::Job(pid_t parent, bool tty)
    : tty_(tty ? ::open("/dev/tty", O_RDWR | O_CLOEXEC) : -1),
      parent_(parent),
      group_(::getpgrp()),
      is_shared_(bool(Descriptor(::open("/dev/tty", O_RDWR | O_CLOEXEC)))) {
  if (tty_ && ::tcgetattr(tty_.get(), &modes_) != 0) tty_.close();
  if (parent_ != 0) parent_stat_ = open_process_file(parent_, "stat");
}

void Job::start_witness() {
  const pid_t guard = ::getpid();
  witness_ = ::fork();
  if (witness_ == 0) be_witness(guard);
  if (witness_ < 0) witness_ = 0;
  if (witness_ != 0) witness_status_ = open_process_file(witness_, "status");
}

bool Job::has_taken(int number) const {
  if (witness_ == 0) return false;
  char text[4096];
  const ssize_t length = ::pread(witness_status_.get(), text, sizeof text, 0);
  std::string_view status(text, length > 0 ? static_cast<size_t>(length) : 0);
  constexpr std::string_view kPending = "ShdPnd:\t";
  const size_t at = status.find(kPending);
  if (at == std::string_view::npos) return false;
  status.remove_prefix(at + kPending.size());
  const uint64_t pending = take_digits(status, 16).value_or(0);
  // The group got the opposite signal since: Ctrl-Z right after fg must not be undone by the
  // SIGCONT of fg.
  if ((pending & opposites_of(number)) != 0) return true;
  if ((pending >> (number - 1) & 1) == 0) return false;
  sigval forget{};
  forget.sival_int = number;
  ::sigqueue(witness_, SIGRTMAX, forget);
  return true;
}

void Job::end_witness() {
  if (witness_ == 0) return;
  ::kill(witness_, SIGKILL);
  ::waitpid(witness_, nullptr, 0);
  witness_ = 0;
}

// The pid of umaprobe may be another process's once umaprobe has ended.
bool Job::has_parent() const { return parent_ != 0 && ::getppid() == parent_; }

void Job::tell_parent(int signal, pid_t program) const {
  if (has_parent()) ::sigqueue(parent_, signal, marked(program));
}

bool Job::is_stopped() const { return has_parent() && umaprobe::is_stopped(parent_stat_); }

// SIGTTOU is blocked, so this is allowed to a process in the background.
void Job::restore_terminal() const {
  if (tty_) ::tcsetattr(tty_.get(), TCSADRAIN, &modes_);
}

}  // namespace umaprobe

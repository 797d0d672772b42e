#include "runtime/passed_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/descriptor.h"
#include "base/passed_signal.h"
#include "base/process_state.h"

namespace umaprobe {
namespace {

std::atomic<int> pipe_end{-1};
struct sigaction before[_NSIG];

bool is_taken(int number) {
  if (number == SIGKILL || number == SIGSTOP || number == SIGCHLD) return false;
  return number < 32 || (number >= SIGRTMIN && number <= SIGRTMAX);
}

// Signals that the kernel, V8 or a timer sends this process because of itself, unless another
// process sends them.
bool is_of_this_process(int number, const siginfo_t& info) {
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
    case SIGABRT:
    case SIGPIPE:
    case SIGXFSZ:
    case SIGXCPU:
    case SIGPROF:
    case SIGVTALRM:
    case SIGALRM:
      return info.si_code > 0 || info.si_pid == ::getpid();
    default:
      return false;
  }
}

void as_before(int number, siginfo_t* info, void* context) {
  const struct sigaction& action = before[number];
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(number, info, context);
  if (action.sa_handler == SIG_IGN) return;
  if (action.sa_handler != SIG_DFL) return action.sa_handler(number);
  ::sigaction(number, &action, nullptr);
  if (info->si_code <= 0) ::raise(number);  // pending until the handler returns
}

// Does without printf, which a handler must not call.
bool is_stopped_process(pid_t pid) {
  char path[32] = "/proc/";
  char* end = std::to_chars(path + 6, path + sizeof path - 6, pid).ptr;
  std::memcpy(end, "/stat", 6);
  return is_stopped(Descriptor(::open(path, O_RDONLY | O_CLOEXEC)));
}

// Stops by the signal that stopped the program: shells tell them apart. A shell may have continued
// both before the signal came here; a second stop would leave the program in the background.
void stop(int number, pid_t program) {
  sigset_t pending, one;
  ::sigpending(&pending);
  if (sigismember(&pending, SIGCONT) == 1) return;
  struct sigaction usual {
  }, ours;
  usual.sa_handler = SIG_DFL;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::sigaction(number, &usual, &ours);
  ::raise(number);  // pending: a SIGCONT from here on takes it away
  if (is_stopped_process(program)) {
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);  // stops here until SIGCONT
  } else {
    const timespec now{0, 0};
    ::sigtimedwait(&one, nullptr, &now);
  }
  ::sigaction(number, &ours, nullptr);
}

void handle(int number, siginfo_t* info, void* context) {
  const int error = errno;
  if (const pid_t program = program_of(*info)) {
    if (number != SIGCONT) stop(number, program);
  } else if (is_of_this_process(number, *info)) {
    as_before(number, info, context);
  } else {
    const PassedSignal signal{number, info->si_code,
                              reinterpret_cast<uintptr_t>(info->si_value.sival_ptr)};
    // The record is shorter than PIPE_BUF, so it is written whole or not at all.
    [[maybe_unused]] const ssize_t count = ::write(pipe_end, &signal, sizeof signal);
  }
  errno = error;
}

}  // namespace

int take_signals() {
  int ends[2];
  if (pipe_end >= 0 || ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  pipe_end = ends[1];
  struct sigaction ours {};
  ours.sa_sigaction = handle;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&ours.sa_mask);
  for (int number = 1; number < _NSIG; ++number) {
    if (is_taken(number)) ::sigaction(number, &ours, &before[number]);
  }
  return ends[0];
}

void return_signals() {
  if (pipe_end < 0) return;
  for (int number = 1; number < _NSIG; ++number) {
    if (is_taken(number)) ::sigaction(number, &before[number], nullptr);
  }
  ::close(pipe_end.exchange(-1));
}

}  // namespace umaprobe

// The end of a process for the sake of another one: a stop, or a signal.
#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace umaprobe {

// Exit code of a process that a guard has stopped: "stopped" of the command line.
inline constexpr int kExitStopped = 6;

// Ends this process by the signal, without a core file, which would say nothing about the other.
[[noreturn]] inline void end_by_signal(int number) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0UL);
  ::signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::raise(number);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(128 + number);
}

}  // namespace umaprobe

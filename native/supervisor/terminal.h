// Job control: the program is in a process group of its own, so the terminal goes back and forth
// between it and the job that the shell knows. To the user nothing is in between.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include "base/descriptor.h"

namespace umaprobe {

class Terminal {
 public:
  // `wanted` false, or no terminal: nothing here does anything. `parent` and its group `job` are
  // what the shell started.
  Terminal(bool wanted, pid_t parent, pid_t job);

  // To the group, if the job is in the foreground. From the program's own child, too.
  void give(pid_t group) const;
  void take_back(pid_t group) const;
  // As it was at the start: a program that was killed leaves it in its own mode.
  void restore() const;

  // The program was stopped by `signal`: takes the terminal back and stops the job as well.
  void stop_job(pid_t group, int signal) const;
  // Whether the shell stopped the job and has not continued it.
  bool job_is_stopped() const;

  explicit operator bool() const { return bool(fd_); }

 private:
  Descriptor fd_;
  const pid_t parent_;
  const pid_t job_;
  termios modes_{};
};

}  // namespace umaprobe

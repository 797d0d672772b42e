// The job that the shell knows: the process group of umaprobe. If there is a terminal, the program
// runs in that group as well, and the signals of the terminal or a shell to the group reach the
// program without umaprobe. Otherwise the program has a group of its own, which the kernel signals
// at once, however fast it forks.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include "base/descriptor.h"

namespace umaprobe {

class Job {
 public:
  // `parent`: umaprobe's process, which stops and goes on with the program; 0: it does not.
  // `tty`: the mode of the terminal is restored after a program that was killed.
  Job(pid_t parent, bool tty);
  Job(const Job&) = delete;

  // The process group of umaprobe.
  pid_t group() const { return group_; }
  // Returns whether the program runs in that group.
  bool is_shared() const { return is_shared_; }

  // Starts a process in the group, which only shows the signals that are sent to the whole group.
  void start_witness();
  // Returns, once for each signal, whether umaprobe got it with its whole group: then the program
  // has it.
  bool has_taken(int number) const;
  void end_witness();
  void lose_witness() { witness_ = 0; }  // the witness was waited for
  pid_t witness() const { return witness_; }

  // The program was stopped or continued by this signal: so is umaprobe, and a stop gives the
  // terminal back to its shell.
  void tell_parent(int signal, pid_t program) const;
  // Returns whether umaprobe runs.
  bool has_parent() const;
  // Returns whether umaprobe is stopped: no handler can pass SIGSTOP on.
  bool is_stopped() const;

  void restore_terminal() const;

 private:
  Descriptor tty_;
  termios modes_{};
  const pid_t parent_;
  const pid_t group_;
  const bool is_shared_;
  pid_t witness_ = 0;
  Descriptor witness_status_, parent_stat_;
};

}  // namespace umaprobe

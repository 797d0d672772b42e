// Runs a command after the guard has stopped something. A process of its own runs it, and starts
// before the program: the guard, whose memory is locked, need not fork while the machine runs out
// of memory, and is delayed by one write to a pipe. That process is no child of the guard, so it is
// neither measured, waited for nor stopped with the program.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"

namespace umaprobe {

// An action of the guard, as the command's environment has it.
struct Notice {
  char action[16];
  char reason[32];
  char target[256];  // one of the whole system's targets; empty: there is only one
  double available;  // bytes; NaN: unknown
  pid_t pid;         // the program's or the target's; 0: a control group
};

// The end of the command.
struct Notified {
  int exit_code;  // the code of shells: 127 is no such program, above 128 a signal
  bool late;      // the command took too long, and was killed
};

class Notifier {
 public:
  // Must run before this process is urgent, locked into memory, or has blocked signals. `words`:
  // the command. Returns 0, or the errno.
  int start(std::vector<char*> words, double limit_s);

  void tell(const Notice& notice);
  // Returns whether every command has ended.
  bool idle() const { return told_ == ended_; }
  // Waits until the next command has ended. False: it does not answer in time.
  bool wait(Notified& notified);
  // The same without waiting.
  bool take(Notified& notified);
  // Returns a descriptor that is readable when a command has ended.
  int fd() const { return answers_.get(); }
  void close();

 private:
  Descriptor notices_, answers_;
  std::chrono::milliseconds patience_{0};
  unsigned told_ = 0, ended_ = 0;
};

}  // namespace umaprobe

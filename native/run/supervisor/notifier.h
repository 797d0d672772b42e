// Runs a command after the guard has stopped something. A process of its own does, which is there
// before the program: the guard, whose memory is locked, need not fork while the machine runs out
// of memory, and is delayed by one write to a pipe. It is no child of the guard, so it is neither
// measured, waited for nor stopped with the program.
#pragma once

#include <sys/types.h>

#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"

namespace umaprobe {

// What happened: the command's environment has it.
struct Notice {
  char action[16];
  char reason[32];
  char target[256];  // of the whole system's; empty: there is one
  double available;  // bytes; NaN: unknown
  pid_t pid;         // of the program or the target; 0: a control group
};

// How the command ended.
struct Notified {
  int exit_code;  // as shells say it: 127 is no such program, above 128 a signal
  bool late;      // it took longer than it may, and was killed
};

class Notifier {
 public:
  // Before this process is urgent, locked into memory, or has blocked signals. `words`: the
  // command. 0, or the errno.
  int start(std::vector<char*> words, double limit_s);

  void tell(const Notice& notice);
  // Whether nothing is waited for.
  bool idle() const { return told_ == ended_; }
  // Waits until the next command has ended. False: it does not answer, and is not waited for.
  bool wait(Notified& notified);
  // The same without waiting.
  bool take(Notified& notified);
  // Readable when a command has ended.
  int fd() const { return answers_.get(); }
  void close();

 private:
  Descriptor notices_, answers_;
  std::chrono::milliseconds patience_{0};
  unsigned told_ = 0, ended_ = 0;
};

}  // namespace umaprobe

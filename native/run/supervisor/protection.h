// Keeps the guard running while the machine runs out of memory, and undoes that in the process that
// becomes the program.
#pragma once

#include <sys/resource.h>

namespace umaprobe {

class Protection {
 public:
  // Locks all memory, now and later, and makes the process urgent and the last to be killed; each
  // as far as this user may.
  void apply();

  // "all", "current", "files" (its code) or "none".
  const char* locked() const { return locked_; }
  bool spared() const { return spared_; }  // the kernel's OOM killer takes the guard last

  // Returns whether the guard gets the processor before all others; an ordinary user's guard
  // cannot.
  bool urgent() const { return urgent_; }

  // Called in the child, before it becomes the program: it is as nice as this process was, and
  // `nicer`.
  void undo_in_child(int nicer) const;

 private:
  const char* locked_ = "none";
  bool spared_ = false;
  bool urgent_ = false;
  char oom_score_[16] = "0";
  int nice_ = 0;
  int policy_ = 0;
  int timer_slack_ = 0;  // ns
  rlimit memlock_{};
};

}  // namespace umaprobe

// A target of the guard: the program that was started here, or one that ran already.
#pragma once

#include <sys/types.h>

#include <array>

#include "base/descriptor.h"
#include "run/supervisor/cgroup.h"
#include "run/supervisor/processes.h"

namespace umaprobe {

class Target {
 public:
  Target() = default;  // none

  // A child, in a control group if there is one, and perhaps in a process group of its own. This
  // process must be its subreaper, so that processes that leave these groups are found as well.
  static Target child(pid_t pid, Cgroup cgroup, bool has_group);
  // A process that others started, and its descendants. Returns 0, or an errno.
  static int process(pid_t pid, Target& target);
  // A control group that others made. False: there is none.
  static bool control_group(std::string_view path, Target& target);

  explicit operator bool() const { return kind_ != Kind::kNone; }
  pid_t pid() const { return process_.pid; }                     // 0: a control group
  pid_t group() const { return has_group_ ? process_.pid : 0; }  // 0: no group of its own
  bool is_child() const { return kind_ == Kind::kChild; }
  const char* cgroup() const { return cgroup_ ? cgroup_.path() : nullptr; }

  // `all`: reads all processes; otherwise only new ones.
  void find(Processes& processes, bool all) const;
  // Reads the memory of its control group; false: it has no group of its own, or the kernel does
  // not count it.
  bool memory(CgroupMemory& memory) const { return cgroup_ && cgroup_.read_memory(memory); }
  // Signals all of its processes. Returns 0, or an errno if no process got the signal.
  int signal(Processes& processes, int number) const;
  // Returns whether no process is left; not for a child, whose end is waited for.
  bool gone(Processes& processes) const;
  // Returns a descriptor that is readable when the process of others has ended; otherwise -1.
  int end_fd() const { return pidfd_.get(); }
  void remove_cgroup();

 private:
  bool signal_group(const Processes& processes, int number) const;

  enum class Kind { kNone, kChild, kProcess, kCgroup };

  Kind kind_ = Kind::kNone;
  Processes::Member root_{};  // the root by which it and its descendants are found
  Processes::Member process_{};
  bool has_group_ = false;
  Descriptor pidfd_;
  Cgroup cgroup_;
};

// Control groups in the order in which they may be stopped, as the control pipe gives them:
// "cgroup:/a cgroup:/b".
class TargetList {
 public:
  void set(std::string_view words);
  // Returns the first one that has processes; none if there is none.
  Target first(Processes& processes) const;

 private:
  std::array<char, 8192> text_{};
  size_t size_ = 0;
};

}  // namespace umaprobe

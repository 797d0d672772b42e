// Finds the processes of the machine without allocating: their descent, and the host memory that
// they take.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/descriptor.h"
#include "host/host.h"

namespace umaprobe {

// Calls pidfd_open(2). Without a result errno is set: there is no such process, or the kernel
// cannot.
Descriptor open_process(pid_t pid);

class Processes {
 public:
  explicit Processes(long page_size);

  struct Member {
    pid_t pid;
    uint64_t started;  // clock ticks since boot; 0: not read
  };

  class Members {
   public:
    size_t size() const { return count_; }
    const Member* begin() const { return all_.data(); }
    const Member* end() const { return all_.data() + count_; }
    bool has(pid_t pid) const;
    // Adds a process; those beyond the room for 8192 are left out.
    void add(const Member& process);
    void clear() { count_ = 0; }
    void take(const Members& others);
    template <typename Predicate>
    void remove_if(const Predicate& leaves) {
      Member* const first = all_.data();
      count_ = static_cast<size_t>(std::remove_if(first, first + count_, leaves) - first);
    }

   private:
    std::array<Member, 1u << 13> all_{};
    size_t count_ = 0;
  };

  // Returns the process that has this pid now; `started` is 0 if there is none.
  static Member now(pid_t pid);
  // Signals this process, and no later one with its pid. Returns 0, or an errno.
  static int signal(const Member& process, int number);

  // Leaves the process out: it never becomes a member.
  void leave_out(pid_t pid) { left_out_ = pid; }
  // Takes `root` and its descendants as members; without `root` itself if `below` is set. A member
  // stays one until it ends, also when its parent ends. Zombies are left out. Unless `all` is set,
  // only processes that were started since the last search for this root are read: an older process
  // that does not descend from it never will.
  void find_descendants(const Member& root, bool below, bool all);
  // Declares that nothing descends from `root` yet: its first search reads no older processes.
  void expect_descendants(pid_t root);
  void add(pid_t pid) { members_.add(now(pid)); }
  void clear() { members_.clear(); }
  // Replaces the members.
  void take_members(const Members& others) { members_.take(others); }

  const Members& members() const { return members_; }
  size_t size() const { return members_.size(); }
  const Member* begin() const { return members_.begin(); }
  const Member* end() const { return members_.end(); }
  bool has(pid_t pid) const { return members_.has(pid); }

  // Returns the memory of the members: `own`, which no other process has, and the largest share of
  // their common memory; kUnknown if no member could be read. Members that have ended are left out
  // from then on.
  double bytes(Host& host, double& own);

 private:
  struct Entry {
    Member process;
    pid_t parent;
    bool zombie, member;
  };
  void read_all();
  // Reads the processes with pids above `after`, up to `newest`.
  void read_new(pid_t after, pid_t newest);
  void read_one(const char* name);

  const double page_size_;
  Descriptor proc_, loadavg_;
  pid_t left_out_ = 0;
  pid_t root_ = 0, newest_ = 0;  // root and newest pid of the last search
  std::array<char, 1u << 15> names_{};
  std::array<Entry, 1u << 15> all_{};
  size_t count_ = 0;
  Members members_;
};

}  // namespace umaprobe

// A control group as a set of processes: what is in it, and its end. No limit is set: CUDA memory
// is not accounted to control groups.
#pragma once

#include <sys/types.h>

#include <array>
#include <string_view>

#include "base/descriptor.h"
#include "run/supervisor/processes.h"

namespace umaprobe {

// What the kernel charges to a control group, in bytes. CUDA memory is not among it.
struct CgroupMemory {
  double anonymous = 0, shared = 0, kernel = 0;  // shared: tmpfs, memfd, shared mappings
};

class Cgroup {
 public:
  // `path`: of its folder, or below the mount of cgroup v2 or of systemd's, as systemctl and
  // /proc/PID/cgroup say it. False: there is no such group.
  bool open(std::string_view path);

  // A new group below the one of this process, where that is delegated: by systemd, to this user,
  // or in a container without systemd. False: there is none.
  bool create();
  // Of create(): moves what is left to the group above, and removes it.
  void remove();

  // Adds its processes, and those of the groups below it.
  void find(Processes& processes) const;
  // All of it, at once, also what forks meanwhile. False: the kernel cannot, and nothing was sent.
  bool kill() const;
  // Whether it gets a share of the processor as a whole, beside this process.
  bool has_weight() const;
  // memory.stat; false: the group has none, as where the memory controller is off.
  bool read_memory(CgroupMemory& memory) const;
  // For the child that becomes the program, unless it was forked into the group.
  void join() const;
  // The descriptor of its folder; -1: there is no group.
  int folder() const { return folder_.get(); }

  explicit operator bool() const { return bool(folder_); }
  const char* path() const { return path_.data(); }

 private:
  bool open_folder(const char* format, std::string_view path);

  Descriptor folder_;
  std::array<char, 512> path_{};
};

}  // namespace umaprobe

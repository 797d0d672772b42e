// A control group as a set of processes: its members, and their end. No limit is set: CUDA memory
// is not accounted to control groups.
#pragma once

#include <sys/types.h>

#include <array>
#include <string_view>

#include "base/descriptor.h"
#include "run/supervisor/processes.h"

namespace umaprobe {

// The memory that the kernel charges to a control group, in bytes, without CUDA memory.
struct CgroupMemory {
  double anonymous = 0, shared = 0, kernel = 0;  // shared: tmpfs, memfd, shared mappings
};

class Cgroup {
 public:
  // `path`: its folder, or the path below the mount of cgroup v2 or of systemd's, as systemctl and
  // /proc/PID/cgroup print it. False: there is no such group.
  bool open(std::string_view path);

  // Makes a group below this process's group, if that is delegated: by systemd, to this user, or in
  // a container without systemd. False: there is no new group.
  bool create();
  // Removes a group that create() made; the processes left in it move to the group above.
  void remove();

  // Adds the processes of this group and of the groups below it.
  void find(Processes& processes) const;
  // Kills all processes at once, also those that are forked meanwhile. False: the kernel cannot,
  // and nothing was sent.
  bool kill() const;
  // Returns whether the group gets a share of the processor as a whole, beside this process.
  bool has_weight() const;
  // Reads memory.stat; false: the group has none, for example because the memory controller is off.
  bool read_memory(CgroupMemory& memory) const;
  // Called by the child that becomes the program, unless it was forked into the group.
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

// The kernel's files behind one seam: the real kernel, or the one of a simulated machine.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/failure.h"
#include "machine/machine_config.h"

namespace umaprobe {

class Host {
 public:
  virtual ~Host() = default;

  // Bytes written to `buffer`, `size` when the file may be longer, or -errno.
  virtual long read(const char* path, char* buffer, size_t size) = 0;
  // One write of `data` to a file of /proc/sys or of a cgroup: its length or -errno. May take
  // seconds.
  virtual long write(const char* path, const char* data, size_t size) = 0;
  // sync(2): writes everything that is dirty, and waits for it. 0 or -errno.
  virtual int sync() = 0;
  // Memory of this machine for this process, as mmap gives it: anonymous, private, not there before
  // it is touched. Null with errno.
  virtual void* map(size_t bytes) = 0;
  virtual void unmap(void* address, size_t bytes) = 0;
  // The same of /proc/meminfo, as fast as it goes.
  virtual long read_meminfo(char* buffer, size_t size) = 0;
  // Names in a directory.
  virtual Fact<std::vector<std::string>> list(const std::string& path) = 0;
  // MemFree in bytes, where it can be had for less than a reading of /proc/meminfo; else nothing.
  virtual std::optional<double> free_memory() { return std::nullopt; }
  // Bytes of a base page.
  virtual long page_size() = 0;
  // Seconds of this machine in one of ours: 1 on the real one.
  virtual double time_scale() = 0;
  // Name of the simulated machine; empty on the real one.
  virtual Fact<std::string> machine() = 0;
};

// Never null. A machine that cannot be reached answers each call with the reason.
std::unique_ptr<Host> open_host(const MachineConfig& config);

// Why a read answered -`error`: the machine that cannot be reached, or the file that cannot be
// read.
Failure read_failure(Host& host, const std::string& path, int error);

// A whole file of at most 1 MiB under /proc or /sys.
Fact<std::string> read_file(Host& host, const std::string& path);

// Writes to one of the few files that give memory back: drop_caches, compact_memory, a cgroup's
// memory.reclaim. Any other path is EINVAL.
std::optional<Failure> write_file(Host& host, const std::string& path, const std::string& data);

// Names in a directory under /proc or /sys.
Fact<std::vector<std::string>> list_directory(Host& host, const std::string& path);

}  // namespace umaprobe

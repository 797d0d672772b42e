// The Linux side of a machine, real or simulated: files of /proc and /sys, and anonymous memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/failure.h"
#include "machine/machine_config.h"

namespace umaprobe {

class Host {
 public:
  virtual ~Host() = default;

  // Returns the number of bytes read into `buffer`, or -errno. `size` means that the file may be
  // longer.
  virtual long read(const char* path, char* buffer, size_t size) = 0;
  // The same for a file that is read again and again: a host may keep it open.
  virtual long reread(const char* path, char* buffer, size_t size) {
    return read(path, buffer, size);
  }
  // Makes one write(2) to a file of /proc/sys or of a cgroup: bytes written or -errno. May take
  // seconds.
  virtual long write(const char* path, const char* data, size_t size) = 0;
  // Calls sync(2): writes all dirty pages and waits. Returns 0 or -errno.
  virtual int sync() = 0;
  // Returns private anonymous memory, as from mmap(2): pages appear when they are touched. Null,
  // with errno set, on failure.
  virtual void* map(size_t bytes) = 0;
  virtual void unmap(void* address, size_t bytes) = 0;
  // Writes to a range of map() on the simulated machine, which does not see the program's own
  // writes: 0 or -errno. May wait for memory. The real machine sees them: -ENOTSUP.
  virtual int touch(void* address, size_t bytes) = 0;
  // Returns the names in a directory.
  virtual Fact<std::vector<std::string>> list(const std::string& path) = 0;
  // Returns MemFree in bytes if the host can tell it faster than by /proc/meminfo; otherwise empty.
  virtual std::optional<double> free_memory() { return std::nullopt; }
  // Bytes per base page.
  virtual long page_size() = 0;
  // Machine seconds per real second: 1 on the real machine.
  virtual double time_scale() = 0;
  // Name of the simulated machine; empty on the real one.
  virtual Fact<std::string> machine() = 0;
};

// Opens the host; never null. Every call of the host of an unavailable machine fails with the
// reason.
std::unique_ptr<Host> open_host(const MachineConfig& config);

// Returns why a read returned -`error`: the machine is unavailable, or the file cannot be read.
Failure read_failure(Host& host, const std::string& path, int error);

// The text of a file under /proc or /sys, at most 1 MiB.
Fact<std::string> read_file(Host& host, const std::string& path);

// The text of a file that is read again and again: `bytes` of it, or all if it is shorter.
Fact<std::string> reread_file(Host& host, const std::string& path, size_t bytes);

// Writes to one of the files that free memory: drop_caches, compact_memory, or a cgroup's
// memory.reclaim. Any other path is EINVAL.
std::optional<Failure> write_file(Host& host, const std::string& path, const std::string& data);

// Names in a directory under /proc or /sys.
Fact<std::vector<std::string>> list_directory(Host& host, const std::string& path);

}  // namespace umaprobe

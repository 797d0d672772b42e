// Files of /proc and /sys that stay open between readings: opening and closing one takes as long as
// reading it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace umaprobe {

// O_NONBLOCK: reading some files of /proc (kmsg) would otherwise block the JavaScript thread.
Descriptor open_readonly(const char* path);

// Bytes read into `buffer` from the start of a file, or -errno.
using ReadFromStart = long (*)(int fd, char* buffer, size_t size);
// The text is one record: the kernel returns all of it in one read.
long read_record(int fd, char* buffer, size_t size);
long read_records(int fd, char* buffer, size_t size);

// Safe on several threads, because one of them may be stuck in a file.
class KeptFiles {
 public:
  // Each reading makes the kernel generate the text again. A file that can no longer be read (its
  // cgroup was removed) is opened anew, once.
  long read(const char* path, ReadFromStart from_start, char* buffer, size_t size);

  // The same on a thread that must not wait: empty unless the file is open, no other thread is
  // reading it, and it is the kernel's own, as lxcfs's /proc/meminfo is not. The kernel has then
  // looked up and allocated what a reading needs.
  std::optional<long> read_at_once(const char* path, ReadFromStart from_start, char* buffer,
                                   size_t size);

 private:
  struct File {
    explicit File(Descriptor opened) : descriptor(std::move(opened)) {}
    Descriptor descriptor;
    bool is_kernels_own = false;
    std::mutex in_use;
  };

  // null: not kept.
  std::shared_ptr<File> find(const char* path);
  // Replaces what is kept for this path; `file` null: keeps nothing.
  void keep(const char* path, std::shared_ptr<File> file);

  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<File>>> files_;
};

}  // namespace umaprobe

// Files of /proc and /sys that stay open between readings: opening and closing one takes as long as
// reading it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace umaprobe {

// O_NONBLOCK: reading some files of /proc (kmsg) would otherwise block the JavaScript thread.
Descriptor open_readonly(const char* path);

// Bytes read into `buffer` from the start of a file, or -errno. seq_file returns about a page per
// read, so a short read is not the end of the file.
long read_from_start(int fd, char* buffer, size_t size);

// Safe on several threads, because one of them may be stuck in a file.
class KeptFiles {
 public:
  // Each reading makes the kernel generate the text again. A file that can no longer be read (its
  // cgroup was removed) is opened anew, once.
  long read(const char* path, char* buffer, size_t size);

 private:
  struct File {
    explicit File(Descriptor opened) : descriptor(std::move(opened)) {}
    Descriptor descriptor;
    std::mutex in_use;
  };

  // Returns null if the file is not kept.
  std::shared_ptr<File> find(const char* path);
  // Replaces the kept file of this path; `file` null: keeps none.
  void keep(const char* path, std::shared_ptr<File> file);

  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<File>>> files_;
};

}  // namespace umaprobe

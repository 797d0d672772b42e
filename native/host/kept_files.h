// Files of /proc and /sys that stay open between readings: opening and closing one takes as long as
// reading it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace umaprobe {

// O_NONBLOCK: reading some files of /proc (kmsg) would otherwise block the JavaScript thread.
Descriptor open_readonly(const char* path);

class KeptFiles {
 public:
  // Bytes read into `buffer` from the start of the file, or -errno. Each pread at 0 makes the
  // kernel generate the text again. A file that can no longer be read (its cgroup was removed) is
  // opened anew, once.
  long read(const char* path, char* buffer, size_t size);

 private:
  std::vector<std::pair<std::string, Descriptor>> files_;
};

}  // namespace umaprobe

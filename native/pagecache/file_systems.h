// Classifies file systems by what their page cache means.
#pragma once

#include <sys/types.h>

#include <unordered_map>

namespace umaprobe {

enum class FileSystem {
  kPages,   // the cache holds copies of files and can be dropped
  kMemory,  // the cache is the file: tmpfs, ramfs
  kPseudo   // content is generated on read (proc, sysfs) or not in the page cache (hugetlbfs)
};

// Remembers each device number's answer.
class FileSystems {
 public:
  // `fd`: any open file on device `dev`.
  FileSystem of(dev_t dev, int fd);

 private:
  std::unordered_map<dev_t, FileSystem> known_;
};

}  // namespace umaprobe

// Which file systems have pages worth looking at.
#pragma once

#include <sys/types.h>

#include <unordered_map>

namespace umaprobe {

enum class FileSystem {
  kPages,   // files are cached, and the cache can be dropped
  kMemory,  // the cache is the file: tmpfs, ramfs
  kPseudo   // what is read is made on the spot (proc, sysfs), or is no page cache (hugetlbfs)
};

// By device number, each asked once.
class FileSystems {
 public:
  // `fd`: something open on device `dev`.
  FileSystem of(dev_t dev, int fd);

 private:
  std::unordered_map<dev_t, FileSystem> known_;
};

}  // namespace umaprobe

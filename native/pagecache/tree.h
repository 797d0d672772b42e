// Walks the directories of a tree with a bounded number of open descriptors, however deep the tree
// is. Uses descriptors instead of paths: a tree that is rearranged meanwhile cannot lead elsewhere,
// and path length is unlimited.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace umaprobe {

// Opens a file for inspection without side effects: does not follow links, wait for the other end
// of a FIFO, or acquire a terminal. `extra_flags`: more flags of open(2). O_NOATIME is dropped if
// the kernel rejects it (it requires ownership or CAP_FOWNER). Sets errno on failure.
Descriptor open_to_inspect(int directory, const char* name, int extra_flags = 0);

// A name in a directory.
struct TreeEntry {
  std::string name;
  unsigned char type;  // DT_* of dirent.h; DT_UNKNOWN if the file system does not tell
};

// The directories from a tree's root down to the current one.
class Tree {
 public:
  // Makes an open directory the current one. `name` is appended to the path, after a slash if
  // needed.
  void enter(Descriptor directory, dev_t dev, ino_t ino, const std::string& name);

  bool empty() const { return frames_.empty(); }
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const;
  // The current directory.
  int directory() const { return frames_.back().directory.get(); }
  dev_t dev() const { return frames_.back().dev; }

  // The next entry of the current directory. Empty at the end, or on a read error with errno set.
  std::optional<TreeEntry> next();

  // Returns to the parent directory. False, with errno set, if the parent was moved or became
  // unreadable: it is current all the same, but its remaining entries are skipped.
  bool leave();

 private:
  struct Frame {
    Descriptor directory;
    dev_t dev;
    ino_t ino;
    size_t path_length;
    std::string listing;  // linux_dirent64 records not returned yet
    size_t at = 0;
    bool exhausted = false;
    int error = 0;  // errno of reading the listing
  };

  static bool read_more(Frame& frame);
  void close_topmost();

  std::vector<Frame> frames_;
  size_t first_open_ = 0;  // index in frames_; descriptors before it are closed
  std::string path_;
};

}  // namespace umaprobe

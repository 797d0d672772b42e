// Directories of a tree, one after the other and never more than some open at once, however deep it
// is. Works with descriptors, not paths: a tree that somebody rearranges meanwhile leads nowhere
// else, and there is no longest path.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace umaprobe {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    const int fd = other.release();
    close();
    fd_ = fd;
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  void close();

 private:
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

  int fd_;
};

// For looking only, at what it is and not at where it leads: no link followed, no wait for the
// other end of a FIFO, no terminal taken. `more`: further flags of open(2); O_NOATIME, so that the
// look leaves no trace, goes as far as the kernel lets us (owner or CAP_FOWNER). Without a
// descriptor errno says why.
Descriptor open_to_inspect(int directory, const char* name, int more = 0);

// A name in a directory.
struct TreeEntry {
  std::string name;
  unsigned char type;  // DT_* of dirent.h; DT_UNKNOWN where the file system does not say
};

// The directories from a tree's root down to where the walk is.
class Tree {
 public:
  // Goes down into a directory that is open; `name` is added to the path, after a slash where one
  // is needed.
  void enter(Descriptor directory, dev_t dev, ino_t ino, const std::string& name);

  bool empty() const { return frames_.empty(); }
  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const;
  // The directory where the walk is.
  int directory() const { return frames_.back().directory.get(); }
  dev_t dev() const { return frames_.back().dev; }

  // The next name here; empty at the end, or with errno set when the directory cannot be read on.
  std::optional<TreeEntry> next();

  // Back to the directory above. False, with errno set: it is not there any more (moved, or made
  // unreadable), and what was left in it is not visited; the walk is in it all the same.
  bool leave();

 private:
  struct Frame {
    Descriptor directory;
    dev_t dev;
    ino_t ino;
    size_t path_length;
    std::string listing;  // linux_dirent64 records not handed out yet
    size_t at = 0;
    bool exhausted = false;
    int error = 0;  // of reading the listing
  };

  static bool read_more(Frame& frame);
  void close_highest();

  std::vector<Frame> frames_;
  size_t first_open_ = 0;  // of frames_; above it descriptors are closed
  std::string path_;
};

}  // namespace umaprobe

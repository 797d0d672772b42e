#include "pagecache/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace umaprobe {
namespace {

constexpr size_t kMaxOpen = 32;
constexpr size_t kListingBytes = 32u << 10;

// struct linux_dirent64. glibc exposes it only through readdir(3), which allocates its own buffer.
struct Record {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  unsigned char type;
  char name[1];
};
constexpr size_t kNameOffset = offsetof(Record, name);

bool is_dots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

}  // namespace

Descriptor open_to_inspect(int directory, const char* name, int extra_flags) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | extra_flags;
  int fd = ::openat(directory, name, flags);
  if (fd < 0 && errno == EPERM && (flags & O_NOATIME))
    fd = ::openat(directory, name, flags & ~O_NOATIME);
  return Descriptor(fd);
}

void Tree::enter(Descriptor directory, dev_t dev, ino_t ino, const std::string& name) {
  if (frames_.size() - first_open_ >= kMaxOpen) close_topmost();
  const size_t length = path_.size();
  path_ = path_of(name);
  frames_.push_back({std::move(directory), dev, ino, length, {}});
}

std::string Tree::path_of(const std::string& name) const {
  const bool slash = !path_.empty() && path_.back() != '/';
  return slash ? path_ + '/' + name : path_ + name;
}

bool Tree::read_more(Frame& frame) {
  if (frame.exhausted) return false;
  char buffer[kListingBytes];
  const long count = ::syscall(SYS_getdents64, frame.directory.get(), buffer, sizeof buffer);
  frame.exhausted = count <= 0;
  // ENOENT: the directory itself was removed, so it has no more entries.
  if (count < 0 && errno != ENOENT) frame.error = errno;
  if (count > 0) frame.listing.append(buffer, static_cast<size_t>(count));
  return count > 0;
}

std::optional<TreeEntry> Tree::next() {
  Frame& frame = frames_.back();
  while (true) {
    if (frame.at == frame.listing.size()) {
      frame.listing.clear();
      frame.at = 0;
      if (!read_more(frame)) {
        errno = frame.error;
        return std::nullopt;
      }
    }
    const char* record = frame.listing.data() + frame.at;
    uint16_t length = 0;
    std::memcpy(&length, record + offsetof(Record, length), sizeof length);
    frame.at += length;
    const char* name = record + kNameOffset;
    if (!is_dots(name))
      return TreeEntry{name, static_cast<unsigned char>(record[offsetof(Record, type)])};
  }
}

// Reads the rest of the listing first: on some file systems a directory position does not outlive
// its descriptor.
void Tree::close_topmost() {
  Frame& frame = frames_[first_open_++];
  frame.listing.erase(0, frame.at);
  frame.at = 0;
  while (read_more(frame)) {
  }
  frame.directory.close();
}

bool Tree::leave() {
  Frame child = std::move(frames_.back());
  frames_.pop_back();
  path_.resize(child.path_length);
  if (frames_.empty() || frames_.size() > first_open_) return true;
  Frame& parent = frames_.back();
  --first_open_;
  // ".." of the child is the parent, unless one of them was moved meanwhile.
  parent.directory = child.directory
                         ? open_to_inspect(child.directory.get(), "..", O_DIRECTORY | O_NOATIME)
                         : Descriptor();
  struct stat about {};
  int error = 0;
  if (!parent.directory) {
    error = child.directory ? errno : ENOENT;
  } else if (::fstat(parent.directory.get(), &about) != 0) {
    error = errno;
  } else if (about.st_dev != parent.dev || about.st_ino != parent.ino) {
    error = ENOENT;
  }
  if (error == 0) return true;
  parent.directory.close();
  parent.listing.clear();
  parent.at = 0;
  parent.exhausted = true;
  errno = error;
  return false;
}

}  // namespace umaprobe

#include "host/kept_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace umaprobe {
namespace {

long read_from_start(int fd, char* buffer, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::pread(fd, buffer + filled, size - filled, static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -errno;
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  return static_cast<long>(filled);
}

}  // namespace

Descriptor open_readonly(const char* path) {
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

long KeptFiles::read(const char* path, char* buffer, size_t size) {
  const auto kept = std::find_if(files_.begin(), files_.end(),
                                 [&](const auto& file) { return file.first == path; });
  if (kept != files_.end()) {
    const long length = read_from_start(kept->second.get(), buffer, size);
    if (length >= 0) return length;
    files_.erase(kept);
  }
  Descriptor file = open_readonly(path);
  if (!file) return -errno;
  const long length = read_from_start(file.get(), buffer, size);
  if (length >= 0) files_.emplace_back(path, std::move(file));
  return length;
}

}  // namespace umaprobe

#include "host/kept_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace umaprobe {

Descriptor open_readonly(const char* path) {
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

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

long KeptFiles::read(const char* path, char* buffer, size_t size) {
  if (const auto kept = find(path)) {
    std::lock_guard<std::mutex> lock(kept->in_use);
    const long length = read_from_start(kept->descriptor.get(), buffer, size);
    if (length >= 0) return length;
    keep(path, nullptr);
  }
  auto file = std::make_shared<File>(open_readonly(path));
  if (!file->descriptor) return -errno;
  const long length = read_from_start(file->descriptor.get(), buffer, size);
  if (length < 0) return length;
  keep(path, std::move(file));
  return length;
}

std::shared_ptr<KeptFiles::File> KeptFiles::find(const char* path) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [kept, file] : files_) {
    if (kept == path) return file;
  }
  return nullptr;
}

void KeptFiles::keep(const char* path, std::shared_ptr<File> file) {
  std::lock_guard<std::mutex> lock(mutex_);
  files_.erase(std::remove_if(files_.begin(), files_.end(),
                              [&](const auto& kept) { return kept.first == path; }),
               files_.end());
  if (file) files_.emplace_back(path, std::move(file));
}

}  // namespace umaprobe

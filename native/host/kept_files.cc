#include "host/kept_files.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace umaprobe {
namespace {

bool is_kernels_own(int fd) {
  struct statfs found;
  if (::fstatfs(fd, &found) != 0) return false;
  const auto type = static_cast<unsigned long>(found.f_type);
  return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == CGROUP2_SUPER_MAGIC ||
         type == CGROUP_SUPER_MAGIC;
}

}  // namespace

Descriptor open_readonly(const char* path) {
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

long read_record(int fd, char* buffer, size_t size) {
  const ssize_t count = ::pread(fd, buffer, size, 0);
  return count < 0 ? -errno : count;
}

long read_records(int fd, char* buffer, size_t size) {
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

long KeptFiles::read(const char* path, ReadFromStart from_start, char* buffer, size_t size) {
  if (const auto kept = find(path)) {
    std::lock_guard<std::mutex> lock(kept->in_use);
    const long length = from_start(kept->descriptor.get(), buffer, size);
    if (length >= 0) return length;
    keep(path, nullptr);
  }
  auto file = std::make_shared<File>(open_readonly(path));
  if (!file->descriptor) return -errno;
  const long length = from_start(file->descriptor.get(), buffer, size);
  if (length < 0) return length;
  file->is_kernels_own = is_kernels_own(file->descriptor.get());
  keep(path, std::move(file));
  return length;
}

std::optional<long> KeptFiles::read_at_once(const char* path, ReadFromStart from_start,
                                            char* buffer, size_t size) {
  const auto kept = find(path);
  if (!kept || !kept->is_kernels_own) return std::nullopt;
  const std::unique_lock<std::mutex> lock(kept->in_use, std::try_to_lock);
  if (!lock) return std::nullopt;
  const long length = from_start(kept->descriptor.get(), buffer, size);
  return length < 0 ? std::nullopt : std::optional(length);
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

#include "record/segments.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <ctime>

#include "record/format.h"

namespace umaprobe {
namespace {

constexpr char kSuffix[] = ".umarec";

// "00000012.umarec" → 12; empty for another name.
std::optional<uint64_t> number_of(const char* name) {
  uint64_t number = 0;
  int end = 0;
  if (std::sscanf(name, "%20" SCNu64 ".umarec%n", &number, &end) != 1 || end == 0)
    return std::nullopt;
  if (name[end] != '\0') return std::nullopt;
  return number;
}

Failure failure(const std::string& call, const std::string& path, int error) {
  return errno_failure("kernel", call + " " + path, error);
}

int64_t clock_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

// 0 or an errno.
int write_all(int fd, const std::string& bytes, uint64_t at) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<size_t>(count);
  }
  return 0;
}

}  // namespace

std::string Segments::path(uint64_t number) const {
  char name[40];
  std::snprintf(name, sizeof name, "%08" PRIu64 "%s", number, kSuffix);
  return name;
}

std::optional<Failure> Segments::open() {
  const std::string& folder = options_.folder;
  folder_ = Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!folder_) return failure("open", folder, errno);
  // Links are not followed: only files in this folder are written.
  lock_ =
      Descriptor(::openat(folder_.get(), "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return failure("open", folder + "/lock", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK) return failure("flock", folder + "/lock", error);
    return Failure{"umaprobe", "record " + folder, EBUSY, "EBUSY",
                   "another process records in this folder"};
  }
  DIR* directory = ::fdopendir(::dup(folder_.get()));
  if (directory == nullptr) return failure("list", folder, errno);
  while (const dirent* entry = ::readdir(directory)) {
    if (const auto number = number_of(entry->d_name)) numbers_.push_back(*number);
  }
  ::closedir(directory);
  std::sort(numbers_.begin(), numbers_.end());
  return begin_segment();
}

std::optional<Failure> Segments::append(const std::string& records) {
  if (!file_ || at_ + records.size() > options_.segment_bytes) {
    if (auto failed = begin_segment()) return failed;
  }
  const std::string name = options_.folder + "/" + path(numbers_.back());
  if (const int error = write_all(file_.get(), records, at_)) return failure("write", name, error);
  at_ += records.size();
  written_ += records.size();
  if (::fdatasync(file_.get()) != 0) return failure("fdatasync", name, errno);
  return std::nullopt;
}

std::optional<Failure> Segments::begin_segment() {
  const uint64_t number = numbers_.empty() ? 1 : numbers_.back() + 1;
  const uint64_t keep = std::max<uint64_t>(1, options_.total_bytes / options_.segment_bytes) - 1;
  while (numbers_.size() > keep && remove_oldest()) {
  }
  Descriptor next;
  int error = allocate(number, next);
  while ((error == ENOSPC || error == EDQUOT) && remove_oldest()) {
    removed_for_room_++;
    error = allocate(number, next);
  }
  if (error != 0) return failure("create", options_.folder + "/" + path(number), error);
  std::string header;
  append_segment_header(header, options_.header + ",\"segment\":" + std::to_string(number) +
                                    ",\"bootUs\":" + std::to_string(clock_us(CLOCK_BOOTTIME)) +
                                    ",\"wallUs\":" + std::to_string(clock_us(CLOCK_REALTIME)) +
                                    "}");
  error = write_all(next.get(), header, 0);
  if (error == 0 && ::fsync(next.get()) != 0) error = errno;
  // The name of a new file is durable with its folder.
  if (error == 0 && ::fsync(folder_.get()) != 0) error = errno;
  if (error != 0) {
    ::unlinkat(folder_.get(), path(number).c_str(), 0);
    return failure("write", options_.folder + "/" + path(number), error);
  }
  file_ = std::move(next);
  at_ = header.size();
  numbers_.push_back(number);
  return std::nullopt;
}

// 0 or an errno. All of the file is allocated, so that a disk that fills up later costs nothing.
int Segments::allocate(uint64_t number, Descriptor& file) const {
  const std::string name = path(number);
  file = Descriptor(::openat(folder_.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(options_.segment_bytes));
  if (error == 0) return 0;
  file.close();
  ::unlinkat(folder_.get(), name.c_str(), 0);
  return error;
}

bool Segments::remove_oldest() {
  if (numbers_.empty()) return false;
  // The current segment is closed first if it is the only one: a new one takes its place.
  if (numbers_.size() == 1) file_.close();
  const int status = ::unlinkat(folder_.get(), path(numbers_.front()).c_str(), 0);
  const bool gone = status == 0 || errno == ENOENT;
  if (gone) numbers_.erase(numbers_.begin());
  return gone;
}

}  // namespace umaprobe

#include "run/record/segments.h"

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
#include <string_view>

#include "run/record/format.h"

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

// Returns 0 or an errno.
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

constexpr uint64_t kBlock = 4096;
// A segment can be read without its header if one of the copies is whole: 1 % of the bytes written.
constexpr uint64_t kCopyEvery = 64u << 10;
// Smallest segment, on a full disk: three minutes of frames of 100 ms.
constexpr uint64_t kLeastSegment = 256u << 10;
// Larger files with the name of a segment are another program's: the largest segment is 16 MiB.
constexpr uint64_t kMostSegment = 64u << 20;

uint64_t whole_blocks(uint64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

// Returns the number of bytes up to the last one that is not 0; empty: the file cannot be read.
std::optional<uint64_t> written_bytes(int fd, uint64_t size) {
  std::string bytes(64 << 10, '\0');
  while (size > 0) {
    const uint64_t from = (size - 1) / bytes.size() * bytes.size();
    const ssize_t count = ::pread(fd, bytes.data(), size - from, static_cast<off_t>(from));
    if (count != static_cast<ssize_t>(size - from)) return std::nullopt;
    const size_t last =
        std::string_view(bytes).substr(0, size - from).find_last_not_of(std::string_view("\0", 1));
    if (last != std::string_view::npos) return from + last + 1;
    size = from;
  }
  return 0;
}

// A link to a file that has another name is no segment: a folder that others may write can have
// one.
bool is_own_file(int fd) {
  struct stat about;
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
         about.st_nlink == 1;
}

// Cuts off the zeros at the end of a segment, and returns its size.
uint64_t cut_zeros(int folder, const std::string& name, uint64_t size) {
  const Descriptor file(
      ::openat(folder, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || !is_own_file(file.get())) return size;
  const auto written = written_bytes(file.get(), size);
  if (!written) return size;
  // The last frame may end in zeros.
  const uint64_t end = *written == 0 ? 0 : std::min(size, whole_blocks(*written + kFrameBytes));
  return ::ftruncate(file.get(), static_cast<off_t>(end)) == 0 ? end : size;
}

}  // namespace

std::string Segments::path(uint64_t number) const {
  char name[40];
  std::snprintf(name, sizeof name, "%08" PRIu64 "%s", number, kSuffix);
  return name;
}

std::optional<Failure> Segments::open() {
  const std::string& folder = options_.folder;
  folder_ = Descriptor(::openat(options_.folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return failure("open", folder, errno);
  lock_ = Descriptor(::fcntl(options_.lock_fd, F_DUPFD_CLOEXEC, 0));
  if (!lock_) return failure("open", folder + "/lock", errno);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK) return failure("flock", folder + "/lock", error);
    return Failure{"umaprobe", "record " + folder, EBUSY, "EBUSY",
                   "another process records in this folder"};
  }
  if (auto failed = list()) return failed;
  // The newest segment alone may be longer than its contents: its recorder was killed.
  if (!files_.empty()) {
    File& newest = files_.back();
    newest.bytes = cut_zeros(folder_.get(), path(newest.number), newest.bytes);
  }
  return begin_segment();
}

std::optional<Failure> Segments::list() {
  DIR* directory = ::fdopendir(::dup(folder_.get()));
  if (directory == nullptr) return failure("list", options_.folder, errno);
  while (const dirent* entry = ::readdir(directory)) {
    const auto number = number_of(entry->d_name);
    struct stat about;
    if (!number || ::fstatat(folder_.get(), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    next_number_ = std::max(next_number_, *number + 1);
    const auto bytes = static_cast<uint64_t>(about.st_size);
    if (S_ISREG(about.st_mode) && bytes <= kMostSegment) files_.push_back({*number, bytes});
  }
  ::closedir(directory);
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.number < b.number; });
  return std::nullopt;
}

void Segments::close() {
  end_segment();
  // Another process may sign the lock from here on.
  if (lock_ && ::ftruncate(lock_.get(), 0) == 0) ::flock(lock_.get(), LOCK_UN);
  lock_.close();
}

std::optional<Failure> Segments::append(const std::string& records) {
  if (!file_ || at_ + records.size() + copy_.size() > capacity_) {
    if (auto failed = begin_segment()) return failed;
  }
  const bool is_copied = at_ / kCopyEvery == (at_ + records.size()) / kCopyEvery;
  const std::string bytes = is_copied ? records : records + copy_;
  const std::string name = options_.folder + "/" + path(files_.back().number);
  if (const int error = write_all(file_.get(), bytes, at_)) return failure("write", name, error);
  at_ += bytes.size();
  written_ += bytes.size();
  if (::fdatasync(file_.get()) != 0) return failure("fdatasync", name, errno);
  return std::nullopt;
}

std::optional<Failure> Segments::begin_segment() {
  end_segment();
  const uint64_t number = next_number_;
  while (bytes_on_disk() + options_.segment_bytes > options_.total_bytes && remove_oldest()) {
  }
  Descriptor next;
  uint64_t capacity = options_.segment_bytes;
  int error = allocate(number, capacity, next);
  while (error == ENOSPC || error == EDQUOT) {
    if (capacity / 2 >= kLeastSegment) {
      capacity /= 2;
    } else if (remove_oldest()) {
      removed_for_room_++;
    } else {
      break;
    }
    error = allocate(number, capacity, next);
  }
  if (error != 0) return failure("create", options_.folder + "/" + path(number), error);
  const std::string begun = std::to_string(clock_us(CLOCK_BOOTTIME));
  const std::string json = options_.header + ",\"segment\":" + std::to_string(number) +
                           ",\"bootUs\":" + begun +
                           ",\"wallUs\":" + std::to_string(clock_us(CLOCK_REALTIME)) + "}";
  copy_.clear();
  append_note(copy_,
              "{\"bootUs\":" + begun + ",\"note\":{\"type\":\"segment\",\"header\":" + json + "}}");
  std::string header;
  append_segment_header(header, json);
  header += copy_;
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
  capacity_ = capacity;
  files_.push_back({number, capacity});
  next_number_ = number + 1;
  return std::nullopt;
}

void Segments::end_segment() {
  if (!file_) return;
  if (::ftruncate(file_.get(), static_cast<off_t>(at_)) == 0) files_.back().bytes = at_;
  file_.close();
}

uint64_t Segments::bytes_on_disk() const {
  uint64_t bytes = 0;
  for (const File& file : files_) bytes += whole_blocks(file.bytes);
  return bytes;
}

// Returns 0 or an errno. The whole file is allocated, so that a disk that fills up later costs
// nothing.
int Segments::allocate(uint64_t number, uint64_t capacity, Descriptor& file) const {
  const std::string name = path(number);
  file = Descriptor(::openat(folder_.get(), name.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(capacity));
  if (error == 0) return 0;
  file.close();
  ::unlinkat(folder_.get(), name.c_str(), 0);
  return error;
}

bool Segments::remove_oldest() {
  if (files_.empty()) return false;
  const int status = ::unlinkat(folder_.get(), path(files_.front().number).c_str(), 0);
  const bool gone = status == 0 || errno == ENOENT;
  if (gone) files_.erase(files_.begin());
  return gone;
}

}  // namespace umaprobe

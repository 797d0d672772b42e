#include "pagecache/mappings.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/descriptor.h"
#include "base/failure.h"

namespace umaprobe {
namespace {

// Reads a file of /proc line by line.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}

  // The next line without its newline, valid until the next call. Null at the end, or on an error
  // with errno set.
  const char* next(const char*& end) {
    while (true) {
      auto* newline = static_cast<char*>(std::memchr(buffer_ + at_, '\n', filled_ - at_));
      if (newline) {
        const char* line = buffer_ + at_;
        end = newline;
        at_ = static_cast<size_t>(newline - buffer_) + 1;
        return line;
      }
      std::memmove(buffer_, buffer_ + at_, filled_ - at_);
      filled_ -= at_;
      at_ = 0;
      if (filled_ == sizeof buffer_) filled_ = 0;  // kernel lines are shorter than the buffer
      errno = 0;
      const ssize_t count = ::read(fd_, buffer_ + filled_, sizeof buffer_ - filled_);
      if (count <= 0) return nullptr;
      filled_ += static_cast<size_t>(count);
    }
  }

 private:
  int fd_;
  size_t at_ = 0;
  size_t filled_ = 0;
  char buffer_[32u << 10] = {};
};

// A file that a process maps.
struct Mapping {
  double dev;
  double ino;
  bool locked;
};

Descriptor open_of(int process, const char* name) {
  return Descriptor(::openat(process, name, O_RDONLY | O_CLOEXEC));
}

// Undoes the kernel's escape of newlines in names, "\012" (seq_file mangling).
std::string unescaped(const std::string& path) {
  std::string plain;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path.compare(i, 4, "\\012") == 0) {
      plain += '\n';
      i += 3;
    } else {
      plain += path[i];
    }
  }
  return plain;
}

// On btrfs and overlay, maps and stat(2) show different devices: the inode's own, and the one of
// the subvolume or overlay. If only the device differs, the path decides, resolved as the process
// sees it. This misses a file that a container maps through another overlay, and a file renamed
// since.
std::optional<double> device_by_path(int process, const MapsLine& line) {
  const std::string path = "root" + unescaped(line.path);
  struct stat about {};
  if (::fstatat(process, path.c_str(), &about, AT_NO_AUTOMOUNT) != 0) return std::nullopt;
  if (about.st_ino != line.ino) return std::nullopt;
  return static_cast<double>(about.st_dev);
}

// The wanted device if the line maps a wanted file.
std::optional<double> wanted_device(int process, const MapsLine& line, const Inodes& wanted) {
  const auto found = wanted.find(static_cast<double>(line.ino));
  if (found == wanted.end()) return std::nullopt;
  const auto is_wanted = [&](double dev) {
    return std::find(found->second.begin(), found->second.end(), dev) != found->second.end();
  };
  const auto dev = static_cast<double>(line.dev);
  if (is_wanted(dev)) return dev;
  const std::optional<double> seen = device_by_path(process, line);
  return seen && is_wanted(*seen) ? seen : std::nullopt;
}

// PF_KTHREAD. A kernel thread has no memory of its own, so its unreadable maps hide nothing.
bool is_kernel_thread(int process) {
  constexpr unsigned long kThread = 0x00200000;
  const Descriptor file = open_of(process, "stat");
  char text[1024];
  const ssize_t count = file ? ::read(file.get(), text, sizeof text - 1) : -1;
  if (count <= 0) return false;
  text[count] = '\0';
  const char* at = std::strrchr(text, ')');  // the name may contain brackets
  // state ppid pgrp session tty_nr tpgid flags
  for (int field = 0; at && field < 7; ++field) at = std::strchr(at + 1, ' ');
  return at && (std::strtoul(at, nullptr, 10) & kThread) != 0;
}

// Marks the hits that are locked. smaps walks the page tables, so it is read for hits only.
void mark_locked(int process, std::vector<Mapping>& hits) {
  const Descriptor file = open_of(process, "smaps");
  if (!file) return;
  Lines lines(file.get());
  Mapping* current = nullptr;
  const char* end = nullptr;
  while (const char* line = lines.next(end)) {
    if (const std::optional<MapsLine> header = parse_maps_line(line, end)) {
      const auto ino = static_cast<double>(header->ino);
      const auto hit = std::find_if(hits.begin(), hits.end(),
                                    [ino](const Mapping& found) { return found.ino == ino; });
      current = hit == hits.end() ? nullptr : &*hit;
    } else if (current && end - line > 7 && std::memcmp(line, "Locked:", 7) == 0) {
      if (std::strtoull(line + 7, nullptr, 10) > 0) current->locked = true;
    }
  }
}

// False if the process's maps may not be read.
bool search_process(CallContext& context, int process, int pid, const Inodes& wanted,
                    Mappings& mappings) {
  context.enter("/proc/<pid>/maps");
  const Descriptor file = open_of(process, "maps");
  if (!file) return errno != EACCES && errno != EPERM;
  std::vector<Mapping> hits;
  Lines lines(file.get());
  const char* end = nullptr;
  uint64_t last = 0;  // mappings of one file are adjacent
  while (const char* line = lines.next(end)) {
    const std::optional<MapsLine> mapped = parse_maps_line(line, end);
    if (!mapped || mapped->ino == 0 || mapped->ino == last) continue;
    last = mapped->ino;
    const std::optional<double> dev = wanted_device(process, *mapped, wanted);
    if (!dev) continue;
    const auto ino = static_cast<double>(mapped->ino);
    const bool known = std::any_of(hits.begin(), hits.end(), [&](const Mapping& hit) {
      return hit.dev == *dev && hit.ino == ino;
    });
    if (!known) hits.push_back({*dev, ino, false});
  }
  if (errno == EACCES || errno == EPERM) return false;
  if (hits.empty()) return true;
  context.enter("/proc/<pid>/smaps");
  mark_locked(process, hits);
  auto& files = mappings.files.values;
  for (const Mapping& hit : hits) {
    files.insert(files.end(), {hit.dev, hit.ino, static_cast<double>(pid), hit.locked ? 1.0 : 0.0});
  }
  return true;
}

}  // namespace

// "7f0c-7f1c r--s 00000000 fd:01 1234    /path"
std::optional<MapsLine> parse_maps_line(const char* line, const char* end) {
  char* at = nullptr;
  if (line == end || !std::isxdigit(static_cast<unsigned char>(*line))) return std::nullopt;
  std::strtoull(line, &at, 16);
  if (*at != '-') return std::nullopt;
  std::strtoull(at + 1, &at, 16);
  if (end - at < 6 || *at != ' ') return std::nullopt;
  std::strtoull(at + 6, &at, 16);  // past " rwxp ", the offset
  if (*at != ' ') return std::nullopt;
  const auto major = static_cast<unsigned>(std::strtoul(at, &at, 16));
  if (*at != ':') return std::nullopt;
  const auto minor = static_cast<unsigned>(std::strtoul(at + 1, &at, 16));
  const uint64_t ino = std::strtoull(at, &at, 10);
  MapsLine mapped{makedev(major, minor), ino, {}};
  const char* path = std::find(static_cast<const char*>(at), end, '/');
  mapped.path.assign(path, end);
  return mapped;
}

Fact<Mappings> find_mappings(CallContext& context, const Inodes& wanted) {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (!processes) return errno_failure("kernel", "list /proc", errno);
  Mappings mappings;
  if (wanted.empty()) return mappings;
  while (const dirent* entry = ::readdir(processes.get())) {
    if (context.cancelled()) break;
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    const Descriptor process(
        ::openat(::dirfd(processes.get()), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!process) continue;  // the process has exited
    const bool readable =
        search_process(context, process.get(), static_cast<int>(pid), wanted, mappings);
    if (!readable && !is_kernel_thread(process.get())) ++mappings.unreadable;
  }
  return mappings;
}

}  // namespace umaprobe

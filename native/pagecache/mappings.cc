#include "pagecache/mappings.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/descriptor.h"
#include "base/failure.h"
#include "base/small_file.h"
#include "pagecache/maps_text.h"

namespace umaprobe {
namespace {

// Reads a file of /proc line by line.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}

  // The next line without its newline, valid until the next call. Empty at the end, or on an error
  // with errno set.
  std::optional<std::string_view> next() {
    while (true) {
      const std::string_view rest(buffer_ + at_, filled_ - at_);
      const size_t length = rest.find('\n');
      if (length != std::string_view::npos) {
        at_ += length + 1;
        return rest.substr(0, length);
      }
      std::memmove(buffer_, buffer_ + at_, filled_ - at_);
      filled_ -= at_;
      at_ = 0;
      if (filled_ == sizeof buffer_) filled_ = 0;  // kernel lines are shorter than the buffer
      errno = 0;
      const ssize_t count = ::read(fd_, buffer_ + filled_, sizeof buffer_ - filled_);
      if (count <= 0) return std::nullopt;
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

// maps and stat(2) show different devices on btrfs and overlay: the inode's own, and that of the
// subvolume or overlay. If only the device differs, the path decides, resolved as the process sees
// it. This misses a file that a container maps through another overlay, and a file renamed since.
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

// A kernel thread has no memory of its own, so its unreadable maps hide nothing.
bool is_kernel_thread(int process) {
  char text[1024];
  return is_kernel_thread_stat(read_start("stat", text, sizeof text, process));
}

// Marks the hits that are locked. smaps walks the page tables, so it is read for hits only.
void mark_locked(int process, std::vector<Mapping>& hits) {
  const Descriptor file = open_of(process, "smaps");
  if (!file) return;
  Lines lines(file.get());
  Mapping* current = nullptr;
  while (const std::optional<std::string_view> line = lines.next()) {
    if (const std::optional<MapsLine> header = parse_maps_line(*line)) {
      const auto ino = static_cast<double>(header->ino);
      const auto hit = std::find_if(hits.begin(), hits.end(),
                                    [ino](const Mapping& found) { return found.ino == ino; });
      current = hit == hits.end() ? nullptr : &*hit;
    } else if (current && is_locked_line(*line)) {
      current->locked = true;
    }
  }
}

// Returns false if the process's maps may not be read.
bool search_process(CallContext& context, int process, int pid, const Inodes& wanted,
                    Mappings& mappings) {
  context.enter("/proc/<pid>/maps");
  const Descriptor file = open_of(process, "maps");
  if (!file) return errno != EACCES && errno != EPERM;
  std::vector<Mapping> hits;
  Lines lines(file.get());
  uint64_t last = 0;  // mappings of one file are adjacent
  while (const std::optional<std::string_view> line = lines.next()) {
    const std::optional<MapsLine> mapped = parse_maps_line(*line);
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

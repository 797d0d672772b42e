#include "run/supervisor/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/digits.h"
#include "base/small_file.h"
#include "run/supervisor/directory.h"

namespace umaprobe {
namespace {

// The mounts of a machine with cgroup v2 alone, then of one that has both versions.
constexpr const char* kMounts[] = {"/sys/fs/cgroup%.*s", "/sys/fs/cgroup/unified%.*s"};
constexpr const char* kSystemdMount = "/sys/fs/cgroup/systemd%.*s";
constexpr int kMaxDepth = 16;

Descriptor open_at(int folder, const char* name, int flags) {
  return Descriptor(::openat(folder, name, flags | O_CLOEXEC));
}

bool write_at(int folder, const char* name, std::string_view text) {
  const Descriptor file = open_at(folder, name, O_WRONLY);
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

template <class Use>
void each_process(int folder, Use use) {
  const Descriptor file = open_at(folder, "cgroup.procs", O_RDONLY);
  char text[4096];
  size_t size = 0;
  for (ssize_t count; (count = ::read(file.get(), text + size, sizeof text - size)) > 0;) {
    size += static_cast<size_t>(count);
    std::string_view rest(text, size);
    for (size_t end; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1)) {
      std::string_view line = rest.substr(0, end);
      if (const auto pid = take_digits(line)) use(static_cast<pid_t>(*pid));
    }
    size = rest.size();
    std::memmove(text, rest.data(), size);
  }
}

void find_below(int folder, int depth, Processes& processes) {
  each_process(folder, [&](pid_t pid) { processes.add(pid); });
  if (depth == kMaxDepth) return;
  const Descriptor list = open_at(folder, ".", O_RDONLY | O_DIRECTORY);
  std::array<char, 4096> buffer;
  each_entry(list.get(), buffer.data(), buffer.size(), [&](const char* name, bool is_folder) {
    if (!is_folder || name[0] == '.') return;
    const Descriptor below = open_at(folder, name, O_RDONLY | O_DIRECTORY);
    if (below) find_below(below.get(), depth + 1, processes);
  });
}

// Returns the path of this process in cgroup v2; empty if there is none.
std::string_view own_path(char* text, size_t size) {
  for (std::string_view rest = read_start("/proc/self/cgroup", text, size); !rest.empty();) {
    std::string_view line = take_line(rest);
    if (take_prefix(line, "0::")) return line;
  }
  return {};
}

// systemd owns the tree that it manages, except the groups that it marks as delegated.
bool is_delegated(int folder) {
  char value[8];
  for (const char* name : {"user.delegate", "trusted.delegate"}) {
    if (::fgetxattr(folder, name, value, sizeof value) == 1 && value[0] == '1') return true;
  }
  struct stat about;
  if (::fstat(folder, &about) != 0) return false;
  if (about.st_uid != 0) return about.st_uid == ::geteuid();
  return ::geteuid() == 0 && ::access("/run/systemd/system", F_OK) != 0;
}

}  // namespace

bool Cgroup::open_folder(const char* format, std::string_view path) {
  const int length =
      std::snprintf(path_.data(), path_.size(), format, static_cast<int>(path.size()), path.data());
  if (length < 0 || static_cast<size_t>(length) >= path_.size()) return false;
  folder_ = Descriptor(::open(path_.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder_ && ::faccessat(folder_.get(), "cgroup.procs", F_OK, 0) != 0) folder_.close();
  return bool(folder_);
}

bool Cgroup::open(std::string_view path) {
  if (path.find("/..") != std::string_view::npos) return false;
  if (open_folder("%.*s", path)) return true;
  for (const char* mount : kMounts) {
    if (open_folder(mount, path)) return true;
  }
  return open_folder(kSystemdMount, path);
}

bool Cgroup::create() {
  char text[4096];
  const std::string_view own = own_path(text, sizeof text);
  if (own.empty()) return false;
  for (const char* mount : kMounts) {
    if (!open_folder(mount, own == "/" ? "" : own)) continue;
    // The folder above all hierarchies of v1 has no such file.
    if (::faccessat(folder_.get(), "cgroup.subtree_control", F_OK, 0) != 0) continue;
    char name[64];
    std::snprintf(name, sizeof name, "/umaprobe-guard-%d", ::getpid());
    const size_t length = std::strlen(path_.data());
    if (!is_delegated(folder_.get()) || length + std::strlen(name) >= path_.size() ||
        ::mkdirat(folder_.get(), name + 1, 0755) != 0)
      break;
    std::memcpy(path_.data() + length, name, std::strlen(name) + 1);
    folder_ = Descriptor(::open(path_.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return bool(folder_);
  }
  folder_.close();
  return false;
}

void Cgroup::remove() {
  if (!folder_) return;
  each_process(folder_.get(), [&](pid_t pid) {
    char text[16];
    const int length = std::snprintf(text, sizeof text, "%d", pid);
    write_at(folder_.get(), "../cgroup.procs", {text, static_cast<size_t>(length)});
  });
  ::rmdir(path_.data());
}

void Cgroup::find(Processes& processes) const {
  if (folder_) find_below(folder_.get(), 0, processes);
}

bool Cgroup::has_weight() const {
  return folder_ && ::faccessat(folder_.get(), "cpu.weight", F_OK, 0) == 0;
}

bool Cgroup::read_memory(CgroupMemory& memory) const {
  char text[8192];
  bool has_anonymous = false, has_shared = false;
  for (std::string_view rest = read_start("memory.stat", text, sizeof text, folder_.get());
       !rest.empty();) {
    std::string_view line = take_line(rest);
    const bool anonymous = take_prefix(line, "anon ");
    const bool shared = !anonymous && take_prefix(line, "shmem ");
    const bool kernel = !anonymous && !shared && take_prefix(line, "kernel ");
    const auto bytes = take_digits(line, 10, kMaxExactInteger);
    if (!bytes) continue;
    const auto value = static_cast<double>(*bytes);
    if (anonymous) memory.anonymous = value;
    if (shared) memory.shared = value;
    if (kernel) memory.kernel = value;
    has_anonymous |= anonymous;
    has_shared |= shared;
  }
  return has_anonymous && has_shared;
}

bool Cgroup::kill() const { return folder_ && write_at(folder_.get(), "cgroup.kill", "1"); }

void Cgroup::join() const {
  if (folder_) write_at(folder_.get(), "cgroup.procs", "0");
}

}  // namespace umaprobe

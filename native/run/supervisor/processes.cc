#include "run/supervisor/processes.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>

#include "base/digits.h"
#include "base/small_file.h"
#include "base/unknown.h"
#include "run/supervisor/directory.h"

namespace umaprobe {
namespace {

// Most pids that are tried one by one: reading the directory is cheaper beyond.
constexpr pid_t kMostNew = 1024;

bool has_pidfds() {
  static const bool has = bool(open_process(::getpid()));  // pidfd_open(2) exists since Linux 5.3
  return has;
}

// The pid that was given last: loadavg ends "0.1 0.2 0.3 2/345 6789". 0 if it is not known.
pid_t newest_pid(int loadavg) {
  char text[128];
  const long length = ::pread(loadavg, text, sizeof text, 0);
  std::string_view words(text, length > 0 ? static_cast<size_t>(length) : 0);
  words.remove_prefix(std::min(words.rfind(' ') + 1, words.size()));
  return static_cast<pid_t>(take_digits(words, 10, 1u << 30).value_or(0));
}

struct Stat {
  pid_t parent;
  uint64_t started;
  bool zombie;
};

// "pid (name) state parent …": the name may have any character. The start is field 22.
std::optional<Stat> parse_stat(std::string_view stat) {
  const size_t end = stat.rfind(") ");
  if (end == std::string_view::npos || end + 4 >= stat.size()) return std::nullopt;
  const char state = stat[end + 2];
  stat.remove_prefix(end + 4);
  const auto parent = take_digits(stat, 10, 1u << 30);
  for (int field = 5; field < 22; ++field)
    stat.remove_prefix(std::min(stat.find(' ', 1), stat.size()));
  take_prefix(stat, " ");
  const auto started = take_digits(stat);
  if (!parent || !started) return std::nullopt;
  return Stat{static_cast<pid_t>(*parent), *started, state == 'Z' || state == 'X'};
}

}  // namespace

Descriptor open_process(pid_t pid) {
  constexpr long kPidfdOpen = 434;  // the same on all architectures; glibc 2.28 has no name for it
  return Descriptor(static_cast<int>(::syscall(kPidfdOpen, pid, 0)));
}

Processes::Processes(long page_size)
    : page_size_(static_cast<double>(page_size)),
      proc_(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      loadavg_(::openat(proc_.get(), "loadavg", O_RDONLY | O_CLOEXEC)) {}

void Processes::read_all() {
  count_ = 0;
  ::lseek(proc_.get(), 0, SEEK_SET);
  each_entry(proc_.get(), names_.data(), names_.size(),
             [this](const char* name, bool) { read_one(name); });
  std::sort(all_.begin(), all_.begin() + static_cast<ptrdiff_t>(count_),
            [](const Entry& a, const Entry& b) { return a.process.pid < b.process.pid; });
}

// Does not read the directory, which would take as long as reading every process in it.
void Processes::read_new(pid_t after, pid_t newest) {
  count_ = 0;
  for (pid_t pid = after + 1; pid <= newest; ++pid) {
    // A thread has a folder in /proc as well.
    if (!open_process(pid)) continue;
    char name[16];
    std::snprintf(name, sizeof name, "%d", pid);
    read_one(name);
  }
}

void Processes::read_one(const char* name) {
  std::string_view digits = name;
  const auto pid = take_digits(digits, 10, 1u << 30);
  if (!pid || !digits.empty() || count_ == all_.size()) return;
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "%s/stat", name);
  const auto stat = parse_stat(read_start(path, text, sizeof text, proc_.get()));
  if (!stat || static_cast<pid_t>(*pid) == left_out_) return;
  all_[count_++] = {{static_cast<pid_t>(*pid), stat->started}, stat->parent, stat->zombie, false};
}

Processes::Member Processes::now(pid_t pid) {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const auto stat = parse_stat(read_start(path, text, sizeof text));
  return {pid, stat ? stat->started : 0};
}

int Processes::signal(const Member& process, int number) {
  // No other process gets the pid from here on, on kernels that have these descriptors.
  const Descriptor held = open_process(process.pid);
  if (!held && errno == ESRCH) return ESRCH;
  if (process.started == 0 || now(process.pid).started != process.started) return ESRCH;
  constexpr long kPidfdSendSignal = 424;  // the same on all architectures; since Linux 5.1
  const long sent = held ? ::syscall(kPidfdSendSignal, held.get(), number, nullptr, 0)
                         : ::kill(process.pid, number);
  return sent == 0 ? 0 : errno;
}

void Processes::expect_descendants(pid_t root) {
  root_ = root;
  newest_ = newest_pid(loadavg_.get());
}

void Processes::find_descendants(const Member& root, bool below, bool all) {
  // Pids are given in turn; after the largest, the smallest that are free.
  const pid_t newest = newest_pid(loadavg_.get());
  const bool only_new = !all && root.pid == root_ && newest_ != 0 && newest >= newest_ &&
                        newest - newest_ <= kMostNew && has_pidfds();
  if (only_new) {
    read_new(newest_, newest);
  } else {
    read_all();
  }
  root_ = root.pid;
  newest_ = newest;
  Entry* const first = all_.data();
  Entry* const last = first + count_;
  const auto find = [&](pid_t pid) -> Entry* {
    Entry* const at = std::lower_bound(
        first, last, pid, [](const Entry& entry, pid_t p) { return entry.process.pid < p; });
    return at != last && at->process.pid == pid ? at : nullptr;
  };
  const auto mark = [&](const Member& member) {
    Entry* const entry = find(member.pid);
    if (entry && entry->process.started == member.started) entry->member = true;
  };
  mark(root);
  for (const Member& member : *this) mark(member);
  const auto is_member = [&](pid_t pid) {
    const Entry* const entry = find(pid);
    return entry ? entry->member : only_new && (pid == root.pid || has(pid));
  };
  // A child's pid may be smaller than its parent's, so the loop runs until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (Entry* entry = first; entry != last; ++entry) {
      if (!entry->member && is_member(entry->parent)) changed = entry->member = true;
    }
  }
  // Members that were read are added below, or their pids belong to other processes now.
  const auto read_now = [&](const Member& member) { return !only_new || find(member.pid); };
  members_.remove_if(read_now);
  for (const Entry* entry = first; entry != last; ++entry) {
    const Member& process = entry->process;
    if (entry->member && !entry->zombie && !(below && process.pid == root.pid))
      members_.add(process);
  }
}

void Processes::Members::take(const Members& others) {
  count_ = others.count_;
  std::copy(others.begin(), others.end(), all_.begin());
}

void Processes::Members::add(const Member& process) {
  if (count_ < all_.size()) all_[count_++] = process;
}

bool Processes::Members::has(pid_t pid) const {
  return std::any_of(begin(), end(), [pid](const Member& member) { return member.pid == pid; });
}

double Processes::bytes(Host& host, double& own) {
  const auto ended = [](const Member& member) {
    return ::kill(member.pid, 0) != 0 && errno == ESRCH;
  };
  members_.remove_if(ended);
  own = kUnknown;
  double alone = 0, common = 0;
  bool any = false;
  for (const Member& member : *this) {
    char path[32], text[128];
    std::snprintf(path, sizeof path, "/proc/%d/statm", member.pid);
    const long length = host.read(path, text, sizeof text);
    if (length <= 0) continue;
    // "size resident shared …" in pages
    std::string_view statm(text, static_cast<size_t>(length));
    double pages[3];
    for (double& number : pages) {
      const auto value = take_digits(statm, 10, kMaxExactInteger);
      if (!value) return kUnknown;
      number = static_cast<double>(*value);
      take_prefix(statm, " ");
    }
    any = true;
    alone += std::max(0.0, pages[1] - pages[2]);
    common = std::max(common, pages[2]);
  }
  if (!any) return kUnknown;
  own = alone * page_size_;
  return own + common * page_size_;
}

}  // namespace umaprobe

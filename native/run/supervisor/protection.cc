#include "run/supervisor/protection.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>

#include "base/digits.h"
#include "base/small_file.h"
#include "runtime/thread_priority.h"

namespace umaprobe {
namespace {

constexpr const char* kOomScore = "/proc/self/oom_score_adj";

bool write_oom_score(const char* text) {
  const Descriptor file(::open(kOomScore, O_WRONLY | O_CLOEXEC));
  const auto size = static_cast<ssize_t>(std::strlen(text));
  return file && ::write(file.get(), text, std::strlen(text)) == size;
}

// Locks the files that this process has mapped, one mapping after the other: on a machine without
// swap the kernel can take only these pages from it. False: the limit is too small for all of them.
bool lock_files() {
  char text[16384];
  bool all = true;
  for (std::string_view rest = read_start("/proc/self/maps", text, sizeof text); !rest.empty();) {
    // "5581a0-5581b0 r-xp 00000000 fd:00 1234   /usr/bin/file"
    std::string_view line = take_line(rest);
    if (line.find(" /") == std::string_view::npos) continue;
    const auto first = take_digits(line, 16);
    if (!first || !take_prefix(line, "-")) continue;
    const auto last = take_digits(line, 16);
    if (last && ::mlock(reinterpret_cast<void*>(*first), *last - *first) != 0) all = false;
  }
  return all;
}

}  // namespace

void Protection::apply() {
  nice_ = ::getpriority(PRIO_PROCESS, 0);
  policy_ = ::sched_getscheduler(0);
  timer_slack_ = ::prctl(PR_GET_TIMERSLACK);
  ::getrlimit(RLIMIT_MEMLOCK, &memlock_);
  rlimit most{RLIM_INFINITY, RLIM_INFINITY};
  if (::setrlimit(RLIMIT_MEMLOCK, &most) != 0) {
    most = {memlock_.rlim_max, memlock_.rlim_max};
    ::setrlimit(RLIMIT_MEMLOCK, &most);
  }
  // The guard needs only the memory that exists now: it is read in and locked. NVML comes later and
  // maps ten times as much as it uses, so only its used pages are locked. A mapping beyond the
  // limit would fail with MCL_FUTURE.
  if (::mlockall(MCL_CURRENT) == 0) {
    const bool unlimited = most.rlim_cur == RLIM_INFINITY;
    locked_ = unlimited && ::mlockall(MCL_FUTURE | MCL_ONFAULT) == 0 ? "all" : "current";
  } else if (lock_files()) {
    // An ordinary user's limit is mostly 8 MiB, some hundred KiB less than the guard has.
    locked_ = "files";
  }
  const size_t size = read_start(kOomScore, oom_score_, sizeof oom_score_ - 1).size();
  if (size > 0) oom_score_[size] = '\0';
  spared_ = write_oom_score("-1000");
  urgent_ = raise_priority("umaprobe-guard");
}

void Protection::undo_in_child(int nicer) const {
  if (spared_) write_oom_score(oom_score_);
  sched_param usual{};
  ::sched_setscheduler(0, policy_, &usual);
  ::setpriority(PRIO_PROCESS, 0, nice_ + nicer);
  ::setrlimit(RLIMIT_MEMLOCK, &memlock_);
  ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(timer_slack_));
}

}  // namespace umaprobe

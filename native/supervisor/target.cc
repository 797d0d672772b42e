#include "supervisor/target.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/digits.h"

namespace umaprobe {

Target Target::child(pid_t pid, Cgroup cgroup) {
  Target target;
  target.kind_ = Kind::kChild;
  target.pid_ = pid;
  target.cgroup_ = std::move(cgroup);
  return target;
}

int Target::process(pid_t pid, Target& target) {
  Descriptor process = open_process(pid);
  if (!process) return errno;
  target = Target();
  target.kind_ = Kind::kProcess;
  target.pid_ = pid;
  target.pidfd_ = std::move(process);
  return 0;
}

bool Target::control_group(std::string_view path, Target& target) {
  target = Target();
  if (!target.cgroup_.open(path)) return false;
  target.kind_ = Kind::kCgroup;
  return true;
}

void Target::find(Processes& processes, bool all) const {
  if (kind_ == Kind::kChild) {
    processes.find_descendants(::getpid(), true, all);
  } else if (kind_ == Kind::kProcess) {
    processes.find_descendants(pid_, false, all);
  } else {
    processes.clear();
    cgroup_.find(processes);
  }
}

int Target::signal(Processes& processes, int number) const {
  int error = ESRCH;
  const auto send = [&](pid_t pid) {
    if (pid == ::getpid()) return;
    if (::kill(pid, number) == 0) {
      error = 0;
    } else if (error != 0) {
      error = errno;
    }
  };
  if (number == SIGKILL && cgroup_.kill()) error = 0;
  if (kind_ == Kind::kChild) send(-pid_);
  find(processes, true);
  for (const Processes::Member& member : processes) {
    if (kind_ != Kind::kChild || ::getpgid(member.pid) != pid_) send(member.pid);
  }
  return error;
}

bool Target::gone(Processes& processes) const {
  find(processes, true);
  return processes.size() == 0;
}

void Target::remove_cgroup() {
  if (kind_ == Kind::kChild) cgroup_.remove();
}

void TargetList::set(std::string_view words) { size_ = words.copy(text_.data(), text_.size()); }

Target TargetList::first(Processes& processes) const {
  for (std::string_view rest(text_.data(), size_); !rest.empty();) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    Target target;
    if (take_prefix(word, "cgroup:") && Target::control_group(word, target) &&
        !target.gone(processes))
      return target;
  }
  return {};
}

}  // namespace umaprobe

#include "run/supervisor/target.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/digits.h"

namespace umaprobe {

Target Target::child(pid_t pid, Cgroup cgroup, bool has_group) {
  Target target;
  target.kind_ = Kind::kChild;
  target.root_ = Processes::now(::getpid());
  target.process_ = Processes::now(pid);
  target.has_group_ = has_group;
  target.cgroup_ = std::move(cgroup);
  return target;
}

int Target::process(pid_t pid, Target& target) {
  Descriptor process = open_process(pid);
  if (!process) return errno;
  const Processes::Member member = Processes::now(pid);
  if (member.started == 0) return ESRCH;
  target = Target();
  target.kind_ = Kind::kProcess;
  target.root_ = target.process_ = member;
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
    processes.find_descendants(root_, true, all);
  } else if (kind_ == Kind::kProcess) {
    processes.find_descendants(root_, false, all);
  } else {
    processes.clear();
    cgroup_.find(processes);
  }
}

int Target::signal(Processes& processes, int number) const {
  int error = ESRCH;
  if (number == SIGKILL && cgroup_.kill()) error = 0;
  const bool is_first = signal_group(processes, number);
  find(processes, kind_ != Kind::kChild);
  const bool has_group = is_first || signal_group(processes, number);
  if (has_group) error = 0;
  for (const Processes::Member& member : processes) {
    if (member.pid == ::getpid()) continue;
    if (has_group && ::getpgid(member.pid) == group()) continue;
    const int failed = Processes::signal(member, number);
    if (failed == 0 || error != 0) error = failed;
  }
  return error;
}

// Signals all of its process group at once. No other group has the number while the group has a
// member.
bool Target::signal_group(const Processes& processes, int number) const {
  if (!has_group_) return false;
  const auto in_group = [this](const Processes::Member& member) {
    return ::getpgid(member.pid) == group() && Processes::now(member.pid).started == member.started;
  };
  return (in_group(process_) || std::any_of(processes.begin(), processes.end(), in_group)) &&
         ::kill(-group(), number) == 0;
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

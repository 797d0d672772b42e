#include "sim/linux/control_files.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "sim/linux/cgroup.h"
#include "sim/linux/reclaim.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

std::string mailbox_path(const State& state, Control control) {
  return std::string(state.path) + (control == Control::kDropCaches ? ".drop" : ".compact");
}

void record(State& state, int pid, Control what, int level, uint64_t freed) {
  if (state.action_count == kMaxActions) return;
  state.actions[state.action_count] = {state.world.now_ms, pid, what, level, freed};
  state.action_count++;
}

}  // namespace

int control(State& state, Control which, int pid, const char* data, size_t size, uint64_t* freed) {
  if (which == Control::kReclaim || which == Control::kReclaimRoot) {
    const int status = cgroup_reclaim(state, which == Control::kReclaimRoot, data, size, freed);
    if (status != -EINVAL) record(state, pid, which, 0, *freed);
    return status;
  }
  // One number, as proc_dointvec_minmax() takes it: white space around it, nothing else.
  const std::string text(data, size);
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return -EINVAL;
  const size_t end = text.find_first_of(" \t\n", begin);
  const std::string number = text.substr(begin, end == std::string::npos ? end : end - begin);
  if (end != std::string::npos && text.find_first_not_of(" \t\n", end) != std::string::npos) {
    return -EINVAL;
  }
  if (number.size() != 1 || number[0] < '1' || number[0] > '4') return -EINVAL;
  const int value = number[0] - '0';
  *freed = 0;
  if (which == Control::kCompact) {
    if (value != 1) return -EINVAL;
    compact(state);
    record(state, pid, which, 0, 0);
    return 0;
  }
  // 4 only silences the kernel's message about who drops caches.
  if (value < 4) *freed = drop_caches(state, value);
  if (value < 4) record(state, pid, which, value, *freed);
  return 0;
}

int open_mailbox(State& state, Control which, int flags) {
  if (which != Control::kDropCaches && which != Control::kCompact) return -EACCES;
  const int kept = flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK);
  const long fd = syscall(SYS_openat, AT_FDCWD, mailbox_path(state, which).c_str(),
                          kept | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  state.mailboxes |= 1 << static_cast<int>(which);
  return static_cast<int>(fd);
}

void deliver_mail(State& state) {
  for (const Control which : {Control::kDropCaches, Control::kCompact}) {
    const int index = static_cast<int>(which);
    if ((state.mailboxes & (1 << index)) == 0) continue;
    const std::string mail = raw_read_file(mailbox_path(state, which).c_str(), 1 << 16);
    uint64_t& read = state.mailbox_read[index];
    for (; read < mail.size(); read++) {
      uint64_t freed = 0;
      // Digit by digit: nobody says where one write ended and the next began.
      control(state, which, 0, &mail[read], 1, &freed);
    }
  }
}

}  // namespace umasim

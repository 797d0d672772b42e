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

std::string writes_path(const State& state, ControlFile file) {
  return std::string(state.path) + (file == ControlFile::kDropCaches ? ".drop" : ".compact");
}

void record(State& state, int pid, ControlFile file, int level, uint64_t freed) {
  if (state.action_count == kMaxActions) return;
  state.actions[state.action_count] = {state.world.now_ms, pid, file, level, freed};
  state.action_count++;
}

}  // namespace

int write_control_file(State& state, ControlFile file, int pid, const char* data, size_t size,
                       uint64_t* freed) {
  if (file == ControlFile::kReclaim || file == ControlFile::kReclaimRoot) {
    const int status = cgroup_reclaim(state, file == ControlFile::kReclaimRoot, data, size, freed);
    if (status != -EINVAL) record(state, pid, file, 0, *freed);
    return status;
  }
  // The file takes one number with white space around it, like proc_dointvec_minmax().
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
  if (file == ControlFile::kCompact) {
    if (value != 1) return -EINVAL;
    compact(state, kUnlimited);
    record(state, pid, file, 0, 0);
    return 0;
  }
  // 4 only silences the log message about drop_caches.
  if (value < 4) *freed = drop_caches(state, value);
  if (value < 4) record(state, pid, file, value, *freed);
  return 0;
}

int open_control_file(State& state, ControlFile file, int flags) {
  if (file != ControlFile::kDropCaches && file != ControlFile::kCompact) return -EACCES;
  const int kept = flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK);
  const long fd = syscall(SYS_openat, AT_FDCWD, writes_path(state, file).c_str(),
                          kept | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  state.opened_control_files |= 1 << static_cast<int>(file);
  return static_cast<int>(fd);
}

void apply_control_writes(State& state) {
  for (const ControlFile file : {ControlFile::kDropCaches, ControlFile::kCompact}) {
    const int index = static_cast<int>(file);
    if ((state.opened_control_files & (1 << index)) == 0) continue;
    const std::string written = raw_read_file(writes_path(state, file).c_str(), 1 << 16);
    uint64_t& applied = state.control_bytes_applied[index];
    for (; applied < written.size(); applied++) {
      uint64_t freed = 0;
      // Each digit is a write of its own, because the boundaries between writes are unknown.
      write_control_file(state, file, 0, &written[applied], 1, &freed);
    }
  }
}

}  // namespace umasim

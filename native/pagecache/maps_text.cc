#include "pagecache/maps_text.h"

#include <sys/sysmacros.h>

#include <algorithm>
#include <limits>

#include "base/digits.h"

namespace umaprobe {
namespace {

constexpr uint64_t kMaxDeviceNumber = std::numeric_limits<unsigned>::max();

}  // namespace

// "7f0c-7f1c r--s 00000000 fd:01 1234    /path"
std::optional<MapsLine> parse_maps_line(std::string_view line) {
  if (!take_digits(line, 16) || !take_prefix(line, "-") || !take_digits(line, 16)) {
    return std::nullopt;
  }
  // " rwxp ", then the offset
  if (line.size() < 6 || line[0] != ' ' || line[5] != ' ') return std::nullopt;
  line.remove_prefix(6);
  if (!take_digits(line, 16) || !take_prefix(line, " ")) return std::nullopt;
  const auto major = take_digits(line, 16, kMaxDeviceNumber);
  if (!major || !take_prefix(line, ":")) return std::nullopt;
  const auto minor = take_digits(line, 16, kMaxDeviceNumber);
  if (!minor || !take_prefix(line, " ")) return std::nullopt;
  const auto ino = take_digits(line);
  if (!ino) return std::nullopt;
  // Padding, and a path if it begins with a slash; "[heap]" is none.
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  MapsLine mapped{makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor)), *ino, {}};
  if (line.substr(0, 1) == "/") mapped.path = line;
  return mapped;
}

// "Locked:               12 kB"
bool is_locked_line(std::string_view line) {
  if (!take_prefix(line, "Locked:")) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return take_digits(line).value_or(0) > 0;
}

std::string unescaped(std::string_view path) {
  std::string plain;
  while (!path.empty()) {
    if (take_prefix(path, "\\012")) {
      plain += '\n';
    } else {
      plain += path.front();
      path.remove_prefix(1);
    }
  }
  return plain;
}

// "12 (name) S ppid pgrp session tty_nr tpgid flags …"; the name may contain brackets.
bool is_kernel_thread_stat(std::string_view stat) {
  constexpr uint64_t kThread = 0x00200000;  // PF_KTHREAD
  const size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return false;
  stat.remove_prefix(bracket);
  for (int field = 0; field < 7; ++field) {
    const size_t space = stat.find(' ');
    if (space == std::string_view::npos) return false;
    stat.remove_prefix(space + 1);
  }
  return (take_digits(stat).value_or(0) & kThread) != 0;
}

}  // namespace umaprobe

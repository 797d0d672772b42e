// Tells whether a process is stopped, also in a signal handler: nothing allocates or locks.
#pragma once

#include <unistd.h>

#include <string_view>

#include "base/descriptor.h"

namespace umaprobe {

// `stat`: /proc/PID/stat, which is read from its start.
inline bool is_stopped(const Descriptor& stat) {
  char text[512];
  const ssize_t length = stat ? ::pread(stat.get(), text, sizeof text, 0) : 0;
  const std::string_view line(text, length > 0 ? static_cast<size_t>(length) : 0);
  const size_t end = line.rfind(") ");  // the end of the name, which may hold both characters
  return end != std::string_view::npos && line.substr(end + 2, 1) == "T";
}

}  // namespace umaprobe

// Parses the texts of a process that say which files it maps: maps, smaps and stat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace umaprobe {

// A line of maps, or the header line of an smaps entry.
struct MapsLine {
  uint64_t dev;
  uint64_t ino;
  // Newlines are still escaped as "\012". Empty if the mapping is not a file.
  std::string path;
};

// `line` has no newline. Empty if it is not such a line.
std::optional<MapsLine> parse_maps_line(std::string_view line);

// Returns whether a line of smaps says that pages of its mapping are locked.
bool is_locked_line(std::string_view line);

// Undoes the kernel's escape of newlines in names, "\012" (seq_file mangling).
std::string unescaped(std::string_view path);

// Returns whether /proc/<pid>/stat is that of a kernel thread.
bool is_kernel_thread_stat(std::string_view stat);

}  // namespace umaprobe

// The start of a small file, such as one of a process in /proc.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "base/descriptor.h"

namespace umaprobe {

// Returns the text of one read; empty: the file cannot be opened or read. `folder`: the base of a
// relative path.
inline std::string_view read_start(const char* path, char* text, size_t size,
                                   int folder = AT_FDCWD) {
  const Descriptor file(::openat(folder, path, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file ? ::read(file.get(), text, size) : 0;
  return {text, length > 0 ? static_cast<size_t>(length) : 0};
}

}  // namespace umaprobe

// The names in a directory, without allocating as readdir(3) does.
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace umaprobe {

// Calls use(name, is_folder) for each entry; `folder` must be open at its start.
template <class Use>
void each_entry(int folder, char* buffer, size_t size, Use use) {
  struct Entry {  // linux_dirent64
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[1];
  };
  for (;;) {
    const long filled = ::syscall(SYS_getdents64, folder, buffer, size);
    if (filled <= 0) return;
    for (long at = 0; at < filled;) {
      const char* raw = buffer + at;
      unsigned short length = 0;
      std::memcpy(&length, raw + offsetof(Entry, length), sizeof length);
      use(raw + offsetof(Entry, name), raw[offsetof(Entry, type)] == DT_DIR);
      at += length;
    }
  }
}

}  // namespace umaprobe

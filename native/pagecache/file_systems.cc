#include "pagecache/file_systems.h"

#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace umaprobe {
namespace {

// Values of f_type, from linux/magic.h and the file systems' sources.
constexpr uint32_t kMemory[] = {
    0x01021994,  // tmpfs, devtmpfs
    0x858458f6,  // ramfs
};
constexpr uint32_t kPseudo[] = {
    0x00009fa0,  // proc
    0x62656572,  // sysfs
    0x0027e0eb,  // cgroup
    0x63677270,  // cgroup2
    0x64626720,  // debugfs
    0x74726163,  // tracefs
    0x73636673,  // securityfs
    0xf97cff8c,  // selinuxfs
    0x43415d53,  // smackfs
    0x5a3c69f0,  // apparmorfs
    0xcafe4a11,  // bpf
    0x6165676c,  // pstore
    0xde5e81e4,  // efivarfs
    0x62656570,  // configfs
    0x00001cd1,  // devpts
    0x19800202,  // mqueue
    0x65735543,  // fusectl
    0x42494e4d,  // binfmt_misc
    0x67596969,  // rpc_pipefs
    0x6e736673,  // nsfs
    0x00000187,  // autofs: opening it may mount something
    0x07655821,  // resctrl
    0x958458f6,  // hugetlbfs: huge pages, which cachestat(2) rejects
};

template <size_t N>
bool contains(const uint32_t (&list)[N], uint32_t type) {
  return std::find(std::begin(list), std::end(list), type) != std::end(list);
}

FileSystem classify(int fd) {
  struct statfs about {};
  if (::fstatfs(fd, &about) != 0) return FileSystem::kPages;
  const auto type = static_cast<uint32_t>(about.f_type);
  if (contains(kMemory, type)) return FileSystem::kMemory;
  return contains(kPseudo, type) ? FileSystem::kPseudo : FileSystem::kPages;
}

}  // namespace

FileSystem FileSystems::of(dev_t dev, int fd) {
  const auto found = known_.find(dev);
  if (found != known_.end()) return found->second;
  return known_.emplace(dev, classify(fd)).first->second;
}

}  // namespace umaprobe

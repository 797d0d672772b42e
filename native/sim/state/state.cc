#include "sim/state/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "sim/state/clock.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

constexpr char kMagic[8] = {'u', 'm', 'a', 's', 'i', 'm', '1', '\n'};
// Layout of State: version and size. The size catches a change without a new version.
constexpr uint32_t kLayout = (1u << 24) | static_cast<uint32_t>(sizeof(State) & 0xffffff);

State* map(int fd) {
  void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<State*>(memory);
}

void init_lock(pthread_mutex_t* lock) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

// Fills a new, zeroed state. The magic is written last, so an incomplete file is unusable.
std::string fill(State* state, const Machine& machine, const char* path, StartWorld start_world) {
  init_lock(&state->lock);
  state->layout = kLayout;
  state->boot_ns = real_ns();
  const std::string uuid = raw_read_file("/proc/sys/kernel/random/uuid", 36);
  std::snprintf(state->boot_id, sizeof state->boot_id, "%s", uuid.c_str());
  std::snprintf(state->path, sizeof state->path, "%s", path);
  state->machine = machine;
  std::string problem = start_world(*state);
  if (problem.empty()) std::memcpy(state->magic, kMagic, sizeof kMagic);
  return problem;
}

}  // namespace

const char* kind_name(BlockKind kind) {
  constexpr const char* kNames[] = {"none",   "context",    "device", "managed",
                                    "pinned", "registered", "system"};
  return kNames[static_cast<int>(kind)];
}

int create_state(const Machine& machine, const char* path, StartWorld start_world,
                 std::string* error) {
  if (path[0] != '/') {
    *error = std::string("state path is \"") + path + "\"; expected an absolute path";
    return -EINVAL;
  }
  if (std::strlen(path) >= sizeof(State::path)) {
    *error = "state path is longer than 255 bytes";
    return -ENAMETOOLONG;
  }
  const int fd = raw_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (fd < 0) {
    *error = std::string("cannot create ") + path + ": " + std::strerror(-fd);
    return fd;
  }
  // Allocates the blocks, so a full disk is an error here and not a SIGBUS later.
  int status =
      syscall(SYS_fallocate, fd, 0, 0L, static_cast<long>(sizeof(State))) == 0 ? 0 : -errno;
  if (status == -EOPNOTSUPP) status = ftruncate(fd, sizeof(State)) == 0 ? 0 : -errno;
  State* state = status == 0 ? map(fd) : nullptr;
  if (status == 0 && state == nullptr) status = -ENOMEM;
  raw_close(fd);
  if (state != nullptr) {
    *error = fill(state, machine, path, start_world);
    munmap(state, sizeof(State));
    if (error->empty()) return 0;
    status = -EINVAL;
  } else {
    *error = std::string("cannot allocate ") + path + ": " + std::strerror(-status);
  }
  unlink(path);
  return status;
}

State* map_state(const char* path) {
  const int fd = raw_open(path, O_RDWR | O_NOFOLLOW);
  if (fd < 0) {
    errno = -fd;
    return nullptr;
  }
  const off_t size = lseek(fd, 0, SEEK_END);
  State* state = size == static_cast<off_t>(sizeof(State)) ? map(fd) : nullptr;
  raw_close(fd);
  if (state != nullptr && std::memcmp(state->magic, kMagic, sizeof kMagic) == 0 &&
      state->layout == kLayout) {
    return state;
  }
  if (state != nullptr) munmap(state, sizeof(State));
  errno = EINVAL;
  return nullptr;
}

void unmap_state(State* state) { munmap(state, sizeof(State)); }

}  // namespace umasim

// The memory of the machine for preloaded programs that ask libc instead of /proc/meminfo:
// sysinfo() and sysconf(). Everything else that these answer is real.
#include <sys/sysinfo.h>
#include <unistd.h>

#include "sim/abi/export.h"
#include "sim/abi/interpose.h"
#include "sim/gpu/session.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"

namespace umasim {
namespace {

struct HostMemory {
  uint64_t total, free, shared, buffers, swap_total, swap_free;
};

bool read_host_memory(HostMemory* out) {
  Session* current = preloaded() ? session() : nullptr;
  if (current == nullptr) return false;
  const State& state = *current->state;
  const Locked locked(*current->state);
  if (!locked.held()) return false;
  const Memory& fixed = state.machine.memory;
  *out = {fixed.total,         free_bytes(state), state.world.shmem,
          state.world.buffers, fixed.swap_total,  fixed.swap_total - swap_used(state)};
  return true;
}

// Pages of this computer, which programs multiply by its page size.
long pages(uint64_t bytes) {
  return static_cast<long>(bytes / static_cast<uint64_t>(getpagesize()));
}

long total_pages_or(long real) {
  HostMemory memory;
  return read_host_memory(&memory) ? pages(memory.total) : real;
}

long free_pages_or(long real) {
  HostMemory memory;
  return read_host_memory(&memory) ? pages(memory.free) : real;
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API int sysinfo(struct sysinfo* info) noexcept {
  const int status = next<int(struct sysinfo*)>(__func__)(info);
  HostMemory memory;
  if (status != 0 || !read_host_memory(&memory)) return status;
  info->mem_unit = 1;
  info->totalram = memory.total;
  info->freeram = memory.free;
  info->sharedram = memory.shared;
  info->bufferram = memory.buffers;
  info->totalswap = memory.swap_total;
  info->freeswap = memory.swap_free;
  info->totalhigh = info->freehigh = 0;
  return status;
}

// __sysconf() is glibc's under the name that no library replaces. A sanitizer's runtime asks before
// it can watch anything, and before dlsym() works: questions that are not about memory go straight
// on.
UMASIM_API __attribute__((no_sanitize("thread", "address"))) long sysconf(int name) noexcept {
  switch (name) {
    case _SC_PHYS_PAGES:
      return total_pages_or(__sysconf(name));
    case _SC_AVPHYS_PAGES:
      return free_pages_or(__sysconf(name));
    default:
      return __sysconf(name);
  }
}

UMASIM_API long get_phys_pages() noexcept { return total_pages_or(next<long()>(__func__)()); }

UMASIM_API long get_avphys_pages() noexcept { return free_pages_or(next<long()>(__func__)()); }

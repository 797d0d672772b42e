#include "sim/linux/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "sim/linux/memory.h"
#include "sim/linux/reclaim.h"

namespace umasim {
namespace {

// Anonymous memory of the shells and interpreters of the session.
constexpr uint64_t kSessionBytes = 96ull << 20;

struct Charges {
  uint64_t anon, managed, file, mapped, dirty;
};

Charges charges(const State& state) {
  const World& world = state.world;
  // Mapped files are the code of other programs; this session read the rest of the page cache.
  Charges sum{kSessionBytes, 0, saturating_sub(world.file_cache, world.file_mapped), 0,
              world.file_dirty};
  for (int id = 0; id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    if (block.kind == BlockKind::kManaged) sum.managed += block.host_bytes;
    if (block.kind == BlockKind::kSystem) sum.anon += block.host_bytes;
  }
  return sum;
}

// Parses a number with an optional K, M or G, like memparse(). Returns false without a number.
bool parse_bytes(const std::string& text, uint64_t* bytes, size_t* length) {
  char* end = nullptr;
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  *bytes = std::strtoull(text.c_str(), &end, 0);
  const std::string units = "KMG";
  const size_t unit = *end == '\0' ? std::string::npos : units.find(*end & ~0x20);
  if (unit != std::string::npos) {
    *bytes <<= 10 * (unit + 1);
    end++;
  }
  *length = static_cast<size_t>(end - text.c_str());
  return true;
}

}  // namespace

uint64_t cgroup_bytes(const State& state) {
  const Charges sum = charges(state);
  return sum.anon + sum.managed + sum.file;
}

std::string cgroup_stat_text(const State& state) {
  const Charges sum = charges(state);
  std::string text;
  const auto line = [&](const char* name, uint64_t value) {
    text += std::string(name) + " " + std::to_string(value) + "\n";
  };
  line("anon", sum.anon);
  line("file", sum.file);
  line("kernel", sum.managed);  // pages allocated by a driver count as kernel memory
  line("shmem", 0);
  line("file_mapped", sum.mapped);
  line("file_dirty", std::min(sum.dirty, sum.file));
  line("file_writeback", 0);
  line("inactive_anon", 0);
  line("active_anon", sum.anon);
  line("inactive_file", sum.file - sum.file / 3);
  line("active_file", sum.file / 3);
  line("unevictable", 0);
  return text;
}

int cgroup_reclaim(State& state, bool root, const char* data, size_t size, uint64_t* freed) {
  const std::string text(data, size);
  uint64_t want;
  size_t length;
  *freed = 0;
  if (!parse_bytes(text, &want, &length)) return -EINVAL;
  const std::string rest = text.substr(length);
  const bool ends = rest.find_first_not_of(" \t\n") == std::string::npos;
  if (!ends && rest.rfind(" swappiness=", 0) != 0) return -EINVAL;
  *freed = reclaim_clean(state, want, root);
  const uint64_t page = state.machine.linux_kernel.page_size;
  return *freed + page > want ? 0 : -EAGAIN;
}

}  // namespace umasim

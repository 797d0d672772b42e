// Paths that a program opens on the simulated machine, and writes to the files that free memory.
// The first line is a path, the rest is written.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>

#include "check.h"
#include "sim/linux/control_files.h"
#include "sim/linux/memory.h"
#include "sim/linux/procfs.h"
#include "sim/linux/world.h"

namespace {

constexpr uint64_t kMiB = 1ull << 20;

umasim::State& new_machine() {
  static umasim::State state;  // half a MiB: not made anew for each input
  std::memset(static_cast<void*>(&state), 0, sizeof state);
  umasim::Machine& machine = state.machine;
  machine.linux_kernel = {"6.17", "aarch64", "DMA", "madvise", 4096, 14, 0};
  machine.memory.total = 4096 * kMiB;
  machine.memory.anon = 512 * kMiB;
  machine.memory.file_cache = 1024 * kMiB;
  machine.memory.file_mapped = 64 * kMiB;
  machine.memory.file_dirty = 16 * kMiB;
  machine.memory.slab_reclaimable = 128 * kMiB;
  machine.driver.pool_bytes = 256 * kMiB;
  machine.driver.system_memory_pools = 529;
  machine.contiguity = {0.5, 0.5, 0.5, 0.5, 0, 13, false};
  machine.device_count = 1;
  PROPERTY(umasim::start_world(state).empty());
  return state;
}

void check_path(const umasim::State& state, const char* path) {
  std::string text, names;
  const int may = umasim::may_open(state, path, O_RDONLY);
  const int got = umasim::read_file(state, path, &text);
  PROPERTY(may == 0 || may == -EACCES || may == -ENOENT);
  if (std::strncmp(path, "/proc/self/", 11) != 0) PROPERTY(may != 0 || got == 0);
  PROPERTY(umasim::list_directory(state, path, &names) <= 0);
}

// The kernel takes one number from 1 to 4 with white space around it.
bool is_level(const std::string& text) {
  static const std::regex format("^[ \\t\\n]*[1-4]([ \\t\\n]+)?$");
  return text.size() < 256 && std::regex_match(text, format);
}

void check_write(umasim::State& state, umasim::ControlFile file, const std::string& data) {
  const fuzz::Exact exact(data);
  const uint64_t before = umasim::free_bytes(state);
  uint64_t freed = 0;
  const int status =
      umasim::write_control_file(state, file, 1, exact.view().data(), exact.view().size(), &freed);
  PROPERTY(status == 0 || status == -EINVAL || status == -EAGAIN);
  PROPERTY(status != -EINVAL || umasim::free_bytes(state) == before);
  PROPERTY(umasim::free_bytes(state) >= before);
  PROPERTY(umasim::free_bytes(state) - before <= freed + 4096);
  if (file == umasim::ControlFile::kDropCaches && data.size() < 256) {
    PROPERTY((status == 0) == is_level(data));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t newline = std::min(text.find('\n'), text.size());
  const std::string path = text.substr(0, newline).c_str();
  const std::string written = text.substr(std::min(newline + 1, text.size()));
  umasim::State& state = new_machine();
  check_path(state, path.c_str());
  umasim::ControlFile file;
  if (umasim::find_control_file(path.c_str(), &file)) check_write(state, file, written);
  umasim::advance(state, 1000);
  return 0;
}

// The description of a machine, as lib/sim gives it to the simulator: refused by name, or a machine
// whose files are in the kernel's format and add up, at its start and over ten minutes.
#include <cstring>

#include "check.h"
#include "guard/readings.h"
#include "host/meminfo.h"
#include "sim/linux/memory.h"
#include "sim/linux/procfs_texts.h"
#include "sim/linux/psi.h"
#include "sim/linux/world.h"
#include "sim/state/parse_machine.h"

namespace {

// The pages of all blocks of /proc/buddyinfo: the fields of a row behind "Node 0, zone Normal".
uint64_t pages_in_blocks(const std::string& buddyinfo) {
  uint64_t pages = 0;
  for (const std::string& line : fuzz::split(buddyinfo, '\n')) {
    unsigned order = 0;
    int word = 0;
    for (const std::string& field : fuzz::split(line, ' ')) {
      if (field.empty() || ++word <= 4) continue;
      const double blocks = fuzz::whole_number(field);
      PROPERTY(blocks >= 0);
      pages += static_cast<uint64_t>(blocks) << order++;
    }
  }
  return pages;
}

void check_files(const umasim::State& state) {
  double meminfo[umaprobe::kMeminfoFields];
  umaprobe::parse_meminfo(umasim::meminfo_text(state), meminfo);
  const uint64_t total = state.machine.memory.total;
  const uint64_t free = umasim::free_bytes(state);
  PROPERTY(meminfo[0] == static_cast<double>(total / 1024 * 1024));
  PROPERTY(meminfo[1] == static_cast<double>(free));
  PROPERTY(free <= total);
  PROPERTY(umasim::used_bytes(state) <= total);
  for (const double value : meminfo) PROPERTY(std::isnan(value) || fuzz::is_exact(value));
  PROPERTY(pages_in_blocks(umasim::buddyinfo_text(state)) ==
           free / state.machine.linux_kernel.page_size);
  PROPERTY(!umasim::zoneinfo_text(state).empty());
  PROPERTY(!umasim::vmstat_text(state).empty());
  const auto pressure = umaprobe::parse_full_pressure(umasim::psi_text(state.world.psi));
  PROPERTY(pressure && pressure->avg10 <= 100);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static umasim::State storage;  // half a MiB: not made anew for each input
  std::memset(static_cast<void*>(&storage), 0, sizeof storage);
  umasim::State* const state = &storage;
  const std::string problem = umasim::parse_machine(text.c_str(), &state->machine);
  PROPERTY(problem.find('\n') == std::string::npos);
  if (!problem.empty()) return 0;
  if (!umasim::start_world(*state).empty()) return 0;
  check_files(*state);
  for (const double now_ms : {1.0, 50.0, 2'000.0, 60'000.0, 600'000.0}) {
    umasim::advance(*state, now_ms);
    check_files(*state);
  }
  return 0;
}

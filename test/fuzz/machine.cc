// The description of a machine, as lib/sim gives it to the simulator: refused by name, or a machine
// whose files are in the kernel's format and add up, at its start and over ten minutes.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

#include "check.h"
#include "host/meminfo.h"
#include "host/pressure.h"
#include "sim/linux/free_blocks.h"
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
  for (const umasim::ZoneBlocks& zone : umasim::zones_of(state)) {
    for (int order = 0; order < umasim::kMostOrders; order++) {
      PROPERTY(zone.unmovable.of[order] + zone.cma.of[order] <= zone.all.of[order]);
    }
  }
  PROPERTY(!umasim::pagetypeinfo_text(state).empty());
  PROPERTY(!umasim::zoneinfo_text(state).empty());
  PROPERTY(!umasim::vmstat_text(state).empty());
  const auto pressure = umaprobe::parse_pressure(umasim::psi_text(state.world.psi)).full;
  PROPERTY(pressure && pressure->avg10 <= 100);
}

const char* const kValues[] = {"0",
                               "-1",
                               "1",
                               "0.5",
                               "-0.1",
                               "7e9",
                               "1e18",
                               "nan",
                               "true",
                               "4096",
                               "16777216",
                               "4294967296",
                               "9007199254740991",
                               "9223372036854775807",
                               "18446744073709551616",
                               ""};

// Changes one line: another value, the value of another line, gone, or moved to another index of
// its list.
void change(std::vector<std::string>& lines, std::minstd_rand& random) {
  const auto any = [&](size_t size) { return random() % size; };
  std::string& line = lines[any(lines.size())];
  const std::string path = line.substr(0, line.find(' ') + 1);
  const std::string& other = lines[any(lines.size())];
  switch (any(5)) {
    case 0:
      line = other;
      break;
    case 1:
      line = path + other.substr(std::min(other.find(' ') + 1, other.size()));
      break;
    case 2: {
      const size_t index = line.find_first_of("0123456789");
      if (index < path.size()) line[index] = static_cast<char>('0' + any(10));
      break;
    }
    default:
      line = path + kValues[any(std::size(kValues))];
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Bytes changed at random rarely give another valid machine, so most changes are of whole values.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  auto lines = fuzz::split({reinterpret_cast<const char*>(data), size}, '\n');
  for (size_t changes = 1 + random() % 4; changes > 0; --changes) change(lines, random);
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

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

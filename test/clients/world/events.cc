// Scenarios: scripted events of files, slab, pressure and killed processes.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "harness.h"

namespace world {
namespace {

// The lines of event `index`.
std::string event(int index, double at_ms, const std::string& what, const std::string& fields) {
  const std::string at = "events." + std::to_string(index) + ".";
  std::string lines = at + "atMs " + std::to_string(at_ms) + "\n" + at + "what " + what + "\n";
  size_t begin = 0;
  while (begin < fields.size()) {
    const size_t end = fields.find('\n', begin);
    lines += at + fields.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string of_bytes(uint64_t bytes) { return "bytes " + std::to_string(bytes) + "\n"; }

bool near(uint64_t value, uint64_t expected) {
  return value + kGiB / 64 > expected && value < expected + kGiB / 64;
}

// The machine's clock runs fast, so its changes are awaited and not timed.
template <typename Condition>
void await(Condition holds) {
  bool held = holds();
  for (int i = 0; i < 5000 && !held; i++) {
    wait_ms(1);
    held = holds();
  }
  EXPECT(held);
}

void file_is_deleted() {
  boot("gb10-cached", 100, event(0, 40000, "fileDelete", of_bytes(20 * kGiB)));
  const uint64_t cached = meminfo("Cached"), free = meminfo("MemFree");
  await([&] { return meminfo("Cached") < cached; });
  EXPECT(near(cached - meminfo("Cached"), 20 * kGiB));
  EXPECT(near(meminfo("MemFree") - free, 20 * kGiB));
  // A file that is larger than the cache frees what there is; mapped pages stay.
  boot("gb10", 100, event(0, 0, "fileDelete", of_bytes(500 * kGiB)));
  await([] { return meminfo("Dirty") == 0; });
  EXPECT(meminfo("Mapped") >= 768ull << 20);
  EXPECT(near(meminfo("Cached"), (768ull << 20) + meminfo("Shmem")));
}

void slab_grows() {
  boot("gb10", 100,
       event(0, 40000, "slab", of_bytes(8 * kGiB)) +
           event(1, 40000, "slabUnreclaimable", of_bytes(6 * kGiB)));
  const uint64_t reclaimable = meminfo("SReclaimable"), other = meminfo("SUnreclaim");
  const uint64_t free = meminfo("MemFree"), available = meminfo("MemAvailable");
  await([&] { return meminfo("SUnreclaim") > other; });
  EXPECT(near(meminfo("SReclaimable") - reclaimable, 8 * kGiB));
  EXPECT(near(meminfo("SUnreclaim") - other, 6 * kGiB));
  EXPECT(near(free - meminfo("MemFree"), 14 * kGiB));
  // Only the part that reclaim can free is still available.
  EXPECT(available - meminfo("MemAvailable") < 8 * kGiB);
}

void writer_is_throttled() {
  boot("gb10", 20, event(0, 0, "fileDirty", of_bytes(60 * kGiB)));
  wait_ms(2);
  const uint64_t limit = vmstat("nr_dirty_threshold") * 4096;
  EXPECT(limit > 20 * kGiB && limit < 26 * kGiB, "%.1f GiB", static_cast<double>(limit) / kGiB);
  uint64_t most = 0;
  await([&] {
    most = std::max(most, meminfo("Dirty"));
    return meminfo("Cached") > 60 * kGiB;
  });
  // The file was written in the end, and never more than the limit was dirty. The wait for the disk
  // is no wait for memory.
  EXPECT(most > limit / 2 && most <= limit + kGiB / 64);
  EXPECT(pressure_full10() == 0);
  EXPECT(read("/proc/sys/vm/dirty_ratio") == "20\n");
}

void process_is_killed() {
  boot("gb10-busy", 100, event(0, 40000, "oomKill", "process VLLM::EngineCor\n"));
  const uint64_t free = meminfo("MemFree");
  await([&] { return vmstat("oom_kill") > 0; });
  await([&] { return meminfo("MemFree") > free + 70 * kGiB; });
  wait_ms(2);
  EXPECT(vmstat("oom_kill") == 1);
  char buffer[64];
  EXPECT(umasim_read("/proc/4200017/stat", buffer, sizeof buffer) < 0);
}

void pressure_spikes() {
  boot("gb10", 1000, event(0, 400000, "pressure", "percent 98\noverMs 600000\n"));
  const uint64_t available = meminfo("MemAvailable");
  EXPECT(pressure_full10() == 0);
  await([&] { return pressure_full10() > 95; });
  EXPECT(meminfo("MemAvailable") + kGiB / 64 > available && !wedged());
  // Afterwards it falls, as on a healthy machine.
  await([&] { return pressure_full10() < 5; });
  EXPECT(read("/proc/pressure/memory").find("some avg10=") == 0);
}

// The lines of the points of an event: pairs of a time and a value.
std::string points(const std::string& unit,
                   std::initializer_list<std::pair<double, uint64_t>> all) {
  std::string lines;
  int index = 0;
  for (const auto& [after_ms, value] : all) {
    const std::string at = "points." + std::to_string(index++) + ".";
    lines += at + "afterMs " + std::to_string(after_ms) + "\n" + at + unit + " " +
             std::to_string(value) + "\n";
  }
  return lines;
}

void memory_follows_a_curve() {
  // Up to 40 GiB in 10 s, a step to 60 GiB for 80 s, then down to 10 GiB.
  boot(
      "gb10", 100,
      event(0, 40000, "anon",
            points(
                "bytes",
                {{10000, 40 * kGiB}, {10000, 60 * kGiB}, {90000, 60 * kGiB}, {90000, 10 * kGiB}})));
  const uint64_t anon = meminfo("AnonPages"), available = meminfo("MemAvailable");
  await([&] { return meminfo("AnonPages") > anon + 5 * kGiB; });
  EXPECT(meminfo("AnonPages") <= anon + 60 * kGiB);
  await([&] { return near(meminfo("AnonPages"), anon + 60 * kGiB); });
  EXPECT(near(available - meminfo("MemAvailable"), 60 * kGiB));
  await([&] { return near(meminfo("AnonPages"), anon + 10 * kGiB); });
  EXPECT(near(available - meminfo("MemAvailable"), 10 * kGiB));
}

void curve_repeats() {
  boot("gb10-busy", 100,
       event(0, 0, "device",
             "process VLLM::EngineCor\nrepeatMs 20000\n" +
                 points("bytes", {{10000, 0}, {10000, 8 * kGiB}})));
  // The first reading may see either of two levels.
  uint64_t before = meminfo("MemFree");
  for (int i = 0; i < 4; i++) {
    await([&] {
      const uint64_t now = meminfo("MemFree");
      if (!near(now, before - 8 * kGiB) && !near(now, before + 8 * kGiB)) return false;
      before = now;
      return true;
    });
  }
}

void pressure_follows_a_curve() {
  boot("gb10", 250,
       event(0, 100000, "pressure",
             points("percent", {{0, 20}, {200000, 20}, {200000, 90}, {400000, 90}, {400000, 0}})));
  await([] { return pressure_full10() > 15 && pressure_full10() < 25; });
  await([] { return pressure_full10() > 85; });
  await([] { return pressure_full10() < 1; });
}

void impossible_curves_are_refused() {
  const auto refused = [](const std::string& what, const std::string& lines) {
    return boot_error("gb10", event(0, 0, what, lines));
  };
  EXPECT(refused("anon", points("bytes", {{10, 1}, {5, 2}})).find("events.0.points.1.afterMs") ==
         0);
  EXPECT(refused("fileDirty", points("bytes", {{10, 1}})).find("has no curve") !=
         std::string::npos);
  EXPECT(refused("anon", "repeatMs 5\n" + points("bytes", {{10, 1}})).find("events.0.repeatMs") ==
         0);
}

void written_memory_counts() {
  boot("gb10", 1);
  const uint64_t anon = meminfo("AnonPages"), free = meminfo("MemFree");
  char* const memory = static_cast<char*>(umasim_map(8 * kGiB));
  EXPECT(memory != nullptr && meminfo("AnonPages") == anon);
  EXPECT(umasim_touch(memory, 3 * kGiB) == 0 && umasim_touch(memory + kGiB, 3 * kGiB) == 0);
  EXPECT(near(meminfo("AnonPages"), anon + 4 * kGiB) && near(meminfo("MemFree"), free - 4 * kGiB));
  int outside = 0;
  EXPECT(umasim_touch(memory + 7 * kGiB, 2 * kGiB) < 0 && umasim_touch(&outside, 4) < 0);
  umasim_unmap(memory, 8 * kGiB);
  EXPECT(near(meminfo("AnonPages"), anon));
}

// Where a machine does not wedge, a write without memory fails; where it does, the writer waits.
void writing_wedges() {
  const auto write_too_much = [] {
    void* const memory = umasim_map(200 * kGiB);
    _exit(umasim_touch(memory, 200 * kGiB) == 0 ? 0 : 7);
  };
  boot("gb10", 100, "exhaustion.outcome error\n");
  EXPECT(wait_for(start(write_too_much), 20000) == 7 && !wedged());
  boot("gb10", 100);
  const int writer = start(write_too_much);
  await([] { return wedged(); });
  EXPECT(record().find("a write to memory") != std::string::npos);
  EXPECT(wait_for(writer, 50) == -1);
  kill_and_wait(writer);
}

}  // namespace

const Row kEventScenarios[] = {{"events.file_is_deleted", file_is_deleted},
                               {"events.slab_grows", slab_grows},
                               {"events.writer_is_throttled", writer_is_throttled},
                               {"events.process_is_killed", process_is_killed},
                               {"events.pressure_spikes", pressure_spikes},
                               {"events.memory_follows_a_curve", memory_follows_a_curve},
                               {"events.curve_repeats", curve_repeats},
                               {"events.pressure_follows_a_curve", pressure_follows_a_curve},
                               {"events.impossible_curves", impossible_curves_are_refused},
                               {"events.written_memory_counts", written_memory_counts},
                               {"events.writing_wedges", writing_wedges},
                               {nullptr, nullptr}};

}  // namespace world

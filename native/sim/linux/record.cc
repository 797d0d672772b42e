#include "sim/linux/record.h"

#include <cstdio>

#include "sim/linux/block_table.h"
#include "sim/linux/memory.h"

namespace umasim {
namespace {

// Writes the members of an object or the elements of an array.
class Json {
 public:
  explicit Json(char open) : text_(1, open), close_(open == '{' ? '}' : ']') {}
  Json& raw(const char* name, const std::string& json) {
    if (text_.size() > 1) text_ += ",";
    if (name != nullptr) text_ += std::string("\"") + name + "\":";
    text_ += json;
    return *this;
  }
  Json& number(const char* name, uint64_t value) { return raw(name, std::to_string(value)); }
  Json& ms(const char* name, double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", value);
    return raw(name, text);
  }
  Json& string(const char* name, const char* value) {
    std::string text = "\"";
    for (; *value != '\0'; value++) {
      const unsigned char c = static_cast<unsigned char>(*value);
      if (c == '"' || c == '\\') text += '\\';
      if (c >= 0x20) text += *value;
    }
    return raw(name, text + "\"");
  }
  std::string done() const { return text_ + close_; }

 private:
  std::string text_;
  char close_;
};

std::string wedge_json(const Wedge& wedge) {
  if (!wedge.happened) return "null";
  return Json('{')
      .ms("atMs", wedge.at_ms)
      .number("pid", static_cast<uint64_t>(wedge.pid))
      .string("during", wedge.during)
      .number("bytes", wedge.bytes)
      .done();
}

std::string live_json(const State& state) {
  Json all('[');
  for (int id = 0; id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    if (block.kind == BlockKind::kNone) continue;
    all.raw(nullptr, Json('{')
                         .number("pid", static_cast<uint64_t>(state.clients[block.client].pid))
                         .string("kind", kind_name(block.kind))
                         .number("device", block.device)
                         .number("bytes", block.bytes)
                         .number("hostBytes", block.host_bytes)
                         .number("deviceBytes", block.device_bytes)
                         .done());
  }
  return all.done();
}

std::string actions_json(const State& state) {
  Json all('[');
  for (int i = 0; i < state.action_count; i++) {
    const Action& action = state.actions[i];
    Json one('{');
    one.ms("atMs", action.at_ms);
    one.raw("pid", action.pid == 0 ? "null" : std::to_string(action.pid));
    constexpr const char* kNames[] = {"drop_caches", "compact_memory", "memory.reclaim",
                                      "memory.reclaim"};
    one.string("what", kNames[static_cast<int>(action.file)]);
    if (action.file == ControlFile::kDropCaches) {
      one.number("level", static_cast<uint64_t>(action.level));
    }
    all.raw(nullptr, one.number("freedBytes", action.freed_bytes).done());
  }
  return all.done();
}

std::string deaths_json(const State& state) {
  Json all('[');
  for (int i = 0; i < state.death_count; i++) {
    const Death& death = state.deaths[i];
    all.raw(nullptr, Json('{')
                         .ms("atMs", death.at_ms)
                         .number("pid", static_cast<uint64_t>(death.pid))
                         .number("bytes", death.bytes)
                         .raw("cutOff", death.cut_off ? "true" : "false")
                         .done());
  }
  return all.done();
}

// Broken invariants of the simulation; each is a bug of the simulator.
std::string violations_json(const State& state) {
  Json all('[');
  if (!totals_agree(state)) all.string(nullptr, "the totals differ from the sums of the blocks");
  if (state.world.free_in_blocks > free_bytes(state)) {
    all.string(nullptr, "free blocks exceed free memory");
  }
  if (state.world.file_mapped + state.world.file_dirty > state.world.file_cache) {
    all.string(nullptr, "mapped and dirty page cache exceed the page cache");
  }
  return all.done();
}

}  // namespace

std::string record_text(const State& state) {
  const World& world = state.world;
  const Counters& counters = world.counters;
  return Json('{')
      .string("machine", state.machine.name)
      .string("bootId", state.boot_id)
      .ms("scale", state.machine.scale)
      .ms("simulatedMs", world.now_ms)
      .raw("wedged", wedge_json(world.wedge))
      .raw("peak", Json('{')
                       .number("gpuBytes", world.peak_gpu)
                       .number("leastAvailable", world.least_available)
                       .ms("pressureFull10", world.peak_pressure)
                       .done())
      .number("poolBytes", world.pools)
      .raw("live", live_json(state))
      .raw("actions", actions_json(state))
      .raw("deaths", deaths_json(state))
      .raw("counts", Json('{')
                         .number("contexts", counters.contexts_created)
                         .number("allocations", counters.allocations)
                         .number("allocationsFailed", counters.allocations_failed)
                         .number("allocationsCutOff", counters.allocations_cut_off)
                         .number("callsBlocked", counters.calls_blocked)
                         .number("ownerDeaths", counters.owner_deaths)
                         .done())
      .raw("violations", violations_json(state))
      .done();
}

}  // namespace umasim

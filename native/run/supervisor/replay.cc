#include "run/supervisor/replay.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace umaprobe {
namespace {

// The number of a key in a flat JSON object; kUnknown for null, or without the key.
double number_of(const std::string& line, const char* key) {
  const size_t at = line.find("\"" + std::string(key) + "\"");
  if (at == std::string::npos) return kUnknown;
  const char* text = line.c_str() + line.find_first_not_of(": ", at + std::strlen(key) + 2);
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  return end == text || !std::isfinite(value) ? kUnknown : value;
}

// A reading without groupBytes has the holdings of the one before.
Reading parse(const std::string& line, const Holdings& before) {
  Reading reading;
  reading.t = number_of(line, "t");
  reading.available = number_of(line, "available");
  reading.free = number_of(line, "free");
  reading.pressure = number_of(line, "pressureFull");
  reading.free_blocks = number_of(line, "freeBlocks");
  reading.swap_free = number_of(line, "swapFree");
  reading.swap_total = number_of(line, "swapTotal");
  reading.free_in_cpu_lists = number_of(line, "freeInCpuLists");
  Holdings& held = reading.held;
  held = before;
  if (!known(number_of(line, "groupBytes"))) return reading;
  held.t = held.gpu_at = reading.t;
  held.left = reading.left();
  held.group = held.own = number_of(line, "groupBytes");
  held.group_gpu = held.group_gpu_of_host = number_of(line, "groupGpuBytes");
  held.all = held.all_least = held.all_most = held.own + number_of(line, "othersBytes");
  held.others_gpu = number_of(line, "othersGpuBytes");
  if (const double at = number_of(line, "groupGpuAt"); known(at)) held.gpu_at = at;
  return reading;
}

}  // namespace

int replay(const SupervisorOptions& options, Report& report, std::string& wrong) {
  std::ifstream file(options.replay);
  if (!file) {
    wrong = "--replay=" + options.replay + ": the file cannot be opened";
    return 2;
  }
  Judge judge(options.rules);
  Level told = Level::kNone;
  double lowest_available = kUnknown, lowest_free = kUnknown, highest_pressure = kUnknown;
  double last = kUnknown;
  Holdings held;
  size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Reading reading = parse(line, held);
    held = reading.held;
    const std::string place = options.replay + ":" + std::to_string(++count) + ": ";
    if (!known(reading.t) || !known(reading.available)) {
      wrong = place + "expected {\"t\":seconds,\"available\":bytes,…}";
      return 2;
    }
    if (reading.t < last) {
      wrong = place + "t is less than in the line before";
      return 2;
    }
    last = reading.t;
    lowest_available = std::fmin(lowest_available, reading.left());
    lowest_free = std::fmin(lowest_free, reading.free);
    highest_pressure = std::fmax(highest_pressure, reading.pressure);
    const Verdict verdict = judge.add(reading);
    if (verdict.level <= told) continue;
    told = verdict.level;
    Action action{};
    std::snprintf(action.at, sizeof action.at, "%.3f", reading.t);
    action.action = word_of(verdict.level);
    action.reason = verdict.reason;
    action.dry_run = true;
    action.reading = reading;
    action.others_grew = verdict.others_grew;
    action.slope = verdict.slope;
    action.seconds_to_floor = verdict.seconds_to_floor;
    report.action(action);
  }
  EndedLine line;
  line.lowest_available = lowest_available;
  line.lowest_free = lowest_free;
  line.highest_pressure = highest_pressure;
  line.readings = static_cast<double>(count);
  report.ended(line);
  return 0;
}

}  // namespace umaprobe

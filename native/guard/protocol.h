// clang-format off
// Made from lib/core/native/guard-protocol.ts by scripts/guard-protocol.mjs (npm run format): change that table.
#pragma once

#include <string>
#include <string_view>

#include "base/unknown.h"

namespace umaprobe {

// A number by its name: stored as `scale` times that, in bytes, seconds or percent.
template <class Values>
struct Given {
  const char* name;
  double Values::*value;
  double scale, least, most;
};

template <class Values>
std::string range_of(const Given<Values>& given) {
  const auto text = [](double number) { return std::to_string(static_cast<long long>(number)); };
  return "a number from " + text(given.least) + " to " + text(given.most);
}

struct ProgramRules {
  double floor = kUnknown, kill_below = kUnknown, horizon = kUnknown, kill_horizon = kUnknown,
      near = kUnknown, kill_near = kUnknown, crossing = kUnknown, burst_for = kUnknown,
      burst_every = kUnknown, burst_step = kUnknown, burst_rest = kUnknown, burst_memory = kUnknown,
      group_horizon = kUnknown, slope_half = kUnknown, longest_slope_half = kUnknown,
      min_fall = kUnknown, least_half = kUnknown, others = kUnknown, held_age = kUnknown,
      faster = kUnknown, low_for = kUnknown, pressure_full = kUnknown, some_pressure = kUnknown,
      pressure_for = kUnknown, min_blocks = kUnknown, swap_used_up = kUnknown, settle = kUnknown,
      give_up = kUnknown, load_free = kUnknown, load_every = kUnknown, load_step = kUnknown,
      load_plateau = kUnknown, load_least = kUnknown, load_limit = kUnknown,
      read_available = kUnknown, read_available_near = kUnknown, read_near = kUnknown,
      read_moved = kUnknown, read_pressure = kUnknown, read_blocks = kUnknown,
      read_lists = kUnknown, read_lists_near = kUnknown, wait = kUnknown, read_group = kUnknown,
      read_group_urgent = kUnknown, read_group_idle = kUnknown, read_gpu = kUnknown,
      look = kUnknown, look_idle = kUnknown, interval = kUnknown, grace = kUnknown,
      report = kUnknown, notify = kUnknown;
};
inline constexpr Given<ProgramRules> kProgramRules[] = {
    {"floorBytes", &ProgramRules::floor, 1, 0, 9007199254740991},
    {"killBelowBytes", &ProgramRules::kill_below, 1, 0, 9007199254740991},
    {"horizonMs", &ProgramRules::horizon, 1e-3, 0, 86400000},
    {"killHorizonMs", &ProgramRules::kill_horizon, 1e-3, 0, 86400000},
    {"nearBytes", &ProgramRules::near, 1, 0, 9007199254740991},
    {"killNearBytes", &ProgramRules::kill_near, 1, 0, 9007199254740991},
    {"crossingBytes", &ProgramRules::crossing, 1, 0, 9007199254740991},
    {"burstForMs", &ProgramRules::burst_for, 1e-3, 0, 86400000},
    {"burstEveryMs", &ProgramRules::burst_every, 1e-3, 0, 86400000},
    {"burstStepBytes", &ProgramRules::burst_step, 1, 1, 9007199254740991},
    {"burstRestMs", &ProgramRules::burst_rest, 1e-3, 1, 86400000},
    {"burstMemoryMs", &ProgramRules::burst_memory, 1e-3, 0, 86400000},
    {"groupHorizonMs", &ProgramRules::group_horizon, 1e-3, 0, 86400000},
    {"slopeHalfMs", &ProgramRules::slope_half, 1e-3, 5, 5000},
    {"longestSlopeHalfMs", &ProgramRules::longest_slope_half, 1e-3, 5, 5000},
    {"minFallBytes", &ProgramRules::min_fall, 1, 1, 9007199254740991},
    {"leastHalfShare", &ProgramRules::least_half, 1, 0, 1},
    {"othersShare", &ProgramRules::others, 1, 0, 1},
    {"heldAgeShare", &ProgramRules::held_age, 1, 0, 1},
    {"fasterFactor", &ProgramRules::faster, 1, 0, 1000},
    {"lowForMs", &ProgramRules::low_for, 1e-3, 1, 86400000},
    {"pressureFullPercent", &ProgramRules::pressure_full, 1, 1, 100},
    {"somePressurePercent", &ProgramRules::some_pressure, 1, 0, 100},
    {"pressureForMs", &ProgramRules::pressure_for, 1e-3, 1, 86400000},
    {"minBlocksBytes", &ProgramRules::min_blocks, 1, 0, 9007199254740991},
    {"swapUsedUpShare", &ProgramRules::swap_used_up, 1, 0, 1},
    {"settleMs", &ProgramRules::settle, 1e-3, 0, 86400000},
    {"giveUpMs", &ProgramRules::give_up, 1e-3, 0, 86400000},
    {"loadFreeBytes", &ProgramRules::load_free, 1, 0, 9007199254740991},
    {"loadEveryMs", &ProgramRules::load_every, 1e-3, 10, 86400000},
    {"loadStepBytes", &ProgramRules::load_step, 1, 1, 9007199254740991},
    {"loadPlateauMs", &ProgramRules::load_plateau, 1e-3, 1, 86400000},
    {"loadLeastBytes", &ProgramRules::load_least, 1, 0, 9007199254740991},
    {"loadLimitMs", &ProgramRules::load_limit, 1e-3, 1, 86400000},
    {"readAvailableMs", &ProgramRules::read_available, 1e-3, 1, 86400000},
    {"readAvailableNearMs", &ProgramRules::read_available_near, 1e-3, 1, 86400000},
    {"readNearBytes", &ProgramRules::read_near, 1, 0, 9007199254740991},
    {"readMovedBytes", &ProgramRules::read_moved, 1, 1, 9007199254740991},
    {"readPressureMs", &ProgramRules::read_pressure, 1e-3, 1, 86400000},
    {"readBlocksMs", &ProgramRules::read_blocks, 1e-3, 1, 86400000},
    {"readListsMs", &ProgramRules::read_lists, 1e-3, 1, 86400000},
    {"readListsNearMs", &ProgramRules::read_lists_near, 1e-3, 1, 86400000},
    {"waitMs", &ProgramRules::wait, 1e-3, 0, 86400000},
    {"readGroupMs", &ProgramRules::read_group, 1e-3, 1, 86400000},
    {"readGroupUrgentMs", &ProgramRules::read_group_urgent, 1e-3, 1, 86400000},
    {"readGroupIdleMs", &ProgramRules::read_group_idle, 1e-3, 1, 86400000},
    {"readGpuMs", &ProgramRules::read_gpu, 1e-3, 1, 86400000},
    {"lookMs", &ProgramRules::look, 1e-3, 1, 86400000},
    {"lookIdleMs", &ProgramRules::look_idle, 1e-3, 1, 86400000},
    {"intervalMs", &ProgramRules::interval, 1e-3, 1, 1000},
    {"graceMs", &ProgramRules::grace, 1e-3, 0, 86400000},
    {"reportMs", &ProgramRules::report, 1e-3, 1, 86400000},
    {"notifyMs", &ProgramRules::notify, 1e-3, 1, 86400000},
};

struct ProgramOptions {
  double act = kUnknown, tty = kUnknown, parent = kUnknown, open_files = kUnknown,
      ignore_hangup = kUnknown, nicer = kUnknown, report_fd = kUnknown, control_fd = kUnknown,
      signals_fd = kUnknown, notify_words = kUnknown, readings_fd = kUnknown;
};
inline constexpr Given<ProgramOptions> kProgramOptions[] = {
    {"act", &ProgramOptions::act, 1, 0, 1},
    {"tty", &ProgramOptions::tty, 1, 0, 1},
    {"parent", &ProgramOptions::parent, 1, 0, 1073741824},
    {"openFiles", &ProgramOptions::open_files, 1, 0, 1073741824},
    {"ignoreHangup", &ProgramOptions::ignore_hangup, 1, 0, 1},
    {"nicer", &ProgramOptions::nicer, 1, 0, 19},
    {"reportFd", &ProgramOptions::report_fd, 1, 0, 1048576},
    {"controlFd", &ProgramOptions::control_fd, 1, 0, 1048576},
    {"signalsFd", &ProgramOptions::signals_fd, 1, 0, 1048576},
    {"notifyWords", &ProgramOptions::notify_words, 1, 0, 4096},
    {"readingsFd", &ProgramOptions::readings_fd, 1, 0, 1048576},
};

namespace text_word {
inline constexpr const char *kLoad = "load", *kTarget = "target", *kReplay = "replay";
}

struct ProbeRules {
  double floor = kUnknown, pressure_full = kUnknown, pressure_near = kUnknown, progress = kUnknown,
      no_progress = kUnknown, pressure_for = kUnknown, read_available = kUnknown,
      read_near = kUnknown, read_pressure = kUnknown, read_lists = kUnknown,
      read_lists_near = kUnknown, free_every = kUnknown, interval = kUnknown, parent = kUnknown,
      exit_after = kUnknown, report_fd = kUnknown;
};
inline constexpr Given<ProbeRules> kProbeRules[] = {
    {"floorBytes", &ProbeRules::floor, 1, 0, 9007199254740991},
    {"pressureFullPercent", &ProbeRules::pressure_full, 1, 0, 100},
    {"pressureNearBytes", &ProbeRules::pressure_near, 1, 0, 9007199254740991},
    {"progressBytes", &ProbeRules::progress, 1, 0, 9007199254740991},
    {"noProgressMs", &ProbeRules::no_progress, 1e-3, 0, 86400000},
    {"pressureForMs", &ProbeRules::pressure_for, 1e-3, 0, 86400000},
    {"readAvailableMs", &ProbeRules::read_available, 1e-3, 0, 86400000},
    {"readNearBytes", &ProbeRules::read_near, 1, 0, 9007199254740991},
    {"readPressureMs", &ProbeRules::read_pressure, 1e-3, 0, 86400000},
    {"readListsMs", &ProbeRules::read_lists, 1e-3, 0, 86400000},
    {"readListsNearMs", &ProbeRules::read_lists_near, 1e-3, 0, 86400000},
    {"freeEveryMs", &ProbeRules::free_every, 1e-3, 0, 86400000},
    {"intervalMs", &ProbeRules::interval, 1e-3, 1, 1000},
    {"parent", &ProbeRules::parent, 1, 0, 1073741824},
    {"exitAfterMs", &ProbeRules::exit_after, 1e-3, 0, 86400000},
    {"reportFd", &ProbeRules::report_fd, 1, -1, 1048576},
};

namespace priority_word {
inline constexpr const char *kRealtime = "realtime", *kCgroup = "cgroup", *kNice = "nice",
    *kUsual = "usual";
}
struct StartedLine {
  static constexpr const char* kEvent = "started";
  const char *at = nullptr, *cgroup = nullptr, *locked = nullptr, *priority = nullptr;
  double pid = kUnknown, process_group = kUnknown, available = kUnknown, free = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).number("pid", pid).number("processGroup", process_group)
        .text("cgroup", cgroup).text("locked", locked).text("priority", priority)
        .number("available", available).number("free", free);
  }
};

struct ReadingLine {
  static constexpr const char* kEvent = "reading";
  const char *at = nullptr;
  double available = kUnknown, free = kUnknown, group_bytes = kUnknown, group_gpu_bytes = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).number("available", available).number("free", free)
        .number("groupBytes", group_bytes).number("groupGpuBytes", group_gpu_bytes);
  }
};

namespace action_word {
inline constexpr const char *kWarn = "warn", *kTerm = "term", *kKill = "kill", *kDrop = "drop",
    *kCompact = "compact";
}
namespace reason_word {
inline constexpr const char *kFloorNear = "floor-near", *kBelowKill = "below-kill",
    *kLowAndStalled = "low-and-stalled", *kStalled = "stalled", *kLoading = "loading",
    *kRequested = "requested";
}
struct Evidence {
  double available = kUnknown, free = kUnknown, free_in_cpu_lists = kUnknown, slope = kUnknown,
      seconds_to_floor = kUnknown, pressure_full = kUnknown, free_blocks = kUnknown,
      swap_free = kUnknown, group_bytes = kUnknown, group_gpu_bytes = kUnknown,
      others_grew_bytes = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.number("available", available).number("free", free)
        .number("freeInCpuLists", free_in_cpu_lists).number("slope", slope)
        .number("secondsToFloor", seconds_to_floor).number("pressureFull", pressure_full)
        .number("freeBlocks", free_blocks).number("swapFree", swap_free)
        .number("groupBytes", group_bytes).number("groupGpuBytes", group_gpu_bytes)
        .number("othersGrewBytes", others_grew_bytes);
  }
};
struct ActionLine {
  static constexpr const char* kEvent = "action";
  const char *at = nullptr, *action = nullptr, *reason = nullptr, *target = nullptr,
      *failure = nullptr;
  bool dry_run = false;
  Evidence evidence;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).text("action", action).text("reason", reason).boolean("dryRun", dry_run)
        .text("target", target).text("failure", failure).object("evidence", evidence);
  }
};

namespace because_word {
inline constexpr const char *kPlateau = "plateau", *kLimit = "limit";
}
struct LoadedLine {
  static constexpr const char* kEvent = "loaded";
  const char *at = nullptr, *because = nullptr;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).text("because", because);
  }
};

struct NotifiedLine {
  static constexpr const char* kEvent = "notified";
  const char *at = nullptr;
  double exit_code = kUnknown;
  bool late = false;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).number("exitCode", exit_code).boolean("late", late);
  }
};

struct FailedLine {
  static constexpr const char* kEvent = "failed";
  const char *code = nullptr, *message = nullptr;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("code", code).text("message", message);
  }
};

struct LeftLine {
  static constexpr const char* kEvent = "left";
  const char *at = nullptr;
  std::string_view pids;
  double guard = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).json("pids", pids).number("guard", guard);
  }
};

struct EndedLine {
  static constexpr const char* kEvent = "ended";
  const char *at = nullptr;
  double exit_code = kUnknown, signal = kUnknown, lowest_available = kUnknown,
      lowest_free = kUnknown, highest_pressure = kUnknown, peak_group_bytes = kUnknown,
      peak_group_gpu_bytes = kUnknown, readings = kUnknown, cpu_ms = kUnknown,
      before_available = kUnknown, before_free = kUnknown;
  bool stopped = false;
  std::string_view actions;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).number("exitCode", exit_code).number("signal", signal)
        .boolean("stopped", stopped).number("lowestAvailable", lowest_available)
        .number("lowestFree", lowest_free).number("highestPressure", highest_pressure)
        .number("peakGroupBytes", peak_group_bytes)
        .number("peakGroupGpuBytes", peak_group_gpu_bytes).number("readings", readings)
        .number("cpuMs", cpu_ms).number("beforeAvailable", before_available)
        .number("beforeFree", before_free).json("actions", actions);
  }
};

namespace control_word {
inline constexpr const char *kLoaded = "loaded", *kTargets = "targets", *kStop = "stop";
}

namespace reason_word {
inline constexpr const char *kFloor = "floor", *kPressure = "pressure", *kParent = "parent";
}
struct ProbeTrip {
  const char *reason = nullptr;
  double available = kUnknown, free_in_cpu_lists = kUnknown, pressure_full = kUnknown,
      stopped_after_ms = kUnknown, freed_after_ms = kUnknown, at_ms = kUnknown;
  bool left = false;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("reason", reason).number("available", available)
        .number("freeInCpuLists", free_in_cpu_lists).number("pressureFull", pressure_full)
        .number("stoppedAfterMs", stopped_after_ms).number("freedAfterMs", freed_after_ms)
        .number("atMs", at_ms).boolean("left", left);
  }
};

inline constexpr int kExitStopped = 6;

}  // namespace umaprobe

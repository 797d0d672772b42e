// Lines of the report: JSON objects with `event`, the line's name. lib/run/guard/protocol.ts reads
// them, and refuses a line that it does not know. kUnknown and null pointers are null. `at`: ISO
// 8601, UTC.
#pragma once

#include <string_view>

#include "base/unknown.h"

namespace umaprobe {

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
    field.text("at", at)
        .number("pid", pid)
        .number("processGroup", process_group)
        .text("cgroup", cgroup)
        .text("locked", locked)
        .text("priority", priority)
        .number("available", available)
        .number("free", free);
  }
};

struct ReadingLine {
  static constexpr const char* kEvent = "reading";
  const char* at = nullptr;
  double available = kUnknown, free = kUnknown, group_bytes = kUnknown, group_gpu_bytes = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at)
        .number("available", available)
        .number("free", free)
        .number("groupBytes", group_bytes)
        .number("groupGpuBytes", group_gpu_bytes);
  }
};

namespace action_word {
inline constexpr const char *kWarn = "warn", *kTerm = "term", *kKill = "kill", *kDrop = "drop",
                            *kCompact = "compact";
}
namespace reason_word {
inline constexpr const char *kFloorNear = "floor-near", *kBelowKill = "below-kill",
                            *kLowAndStalled = "low-and-stalled", *kStalled = "stalled",
                            *kLoading = "loading", *kRequested = "requested";
}
struct Evidence {
  double available = kUnknown, free = kUnknown, free_in_cpu_lists = kUnknown, slope = kUnknown,
         seconds_to_floor = kUnknown, pressure_full = kUnknown, free_blocks = kUnknown,
         swap_free = kUnknown, group_bytes = kUnknown, group_gpu_bytes = kUnknown,
         others_grew_bytes = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.number("available", available)
        .number("free", free)
        .number("freeInCpuLists", free_in_cpu_lists)
        .number("slope", slope)
        .number("secondsToFloor", seconds_to_floor)
        .number("pressureFull", pressure_full)
        .number("freeBlocks", free_blocks)
        .number("swapFree", swap_free)
        .number("groupBytes", group_bytes)
        .number("groupGpuBytes", group_gpu_bytes)
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
    field.text("at", at)
        .text("action", action)
        .text("reason", reason)
        .boolean("dryRun", dry_run)
        .text("target", target)
        .text("failure", failure)
        .object("evidence", evidence);
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
  const char* at = nullptr;
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
  const char* at = nullptr;
  std::string_view pids;
  double guard = kUnknown;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at).json("pids", pids).number("guard", guard);
  }
};

struct EndedLine {
  static constexpr const char* kEvent = "ended";
  const char* at = nullptr;
  double exit_code = kUnknown, signal = kUnknown, lowest_available = kUnknown,
         lowest_free = kUnknown, highest_pressure = kUnknown, peak_group_bytes = kUnknown,
         peak_group_gpu_bytes = kUnknown, readings = kUnknown, cpu_ms = kUnknown,
         before_available = kUnknown, before_free = kUnknown;
  bool stopped = false;
  std::string_view actions;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("at", at)
        .number("exitCode", exit_code)
        .number("signal", signal)
        .boolean("stopped", stopped)
        .number("lowestAvailable", lowest_available)
        .number("lowestFree", lowest_free)
        .number("highestPressure", highest_pressure)
        .number("peakGroupBytes", peak_group_bytes)
        .number("peakGroupGpuBytes", peak_group_gpu_bytes)
        .number("readings", readings)
        .number("cpuMs", cpu_ms)
        .number("beforeAvailable", before_available)
        .number("beforeFree", before_free)
        .json("actions", actions);
  }
};

namespace control_word {
inline constexpr const char *kLoaded = "loaded", *kTargets = "targets", *kStop = "stop";
}

}  // namespace umaprobe

// Parses the scripted processes and events of a machine.
#include <iterator>

#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

void parse_processes(Description& in, Machine& machine) {
  for (int& i = machine.process_count; in.has("processes." + std::to_string(i)); i++) {
    if (i == kMaxScripted) return in.fail("processes has more than 32 entries");
    const std::string at = "processes." + std::to_string(i) + ".";
    ScriptedProcess& process = machine.processes[i];
    in.text(at + "name", process.name);
    in.integer(at + "pid", &process.pid);
    in.bytes(at + "gpuBytes", &process.gpu_bytes);
    in.bytes(at + "anonBytes", &process.anon_bytes);
    process.device = in.bytes_or(at + "device", 0);
    if (in.has(at + "list")) {
      process.graphics = in.choice(at + "list", {"compute", "graphics"}) == 1;
    }
    // A process without GPU memory may be on a machine without a GPU.
    const uint64_t devices = process.gpu_bytes > 0 ? machine.device_count : kMaxDevices;
    if (process.device >= devices) {
      in.fail(at + "device is " + std::to_string(process.device) +
              "; expected the index of a device");
    }
  }
}

void parse_loss(Description& in, const std::string& at, const Machine& machine,
                ScriptedEvent& event) {
  uint64_t device = 0;
  in.bytes(at + "device", &device);
  if (device >= static_cast<uint64_t>(machine.device_count)) {
    return in.fail(at + "device is " + std::to_string(device) + "; expected the index of a device");
  }
  event.device = static_cast<int>(device);
  if (!in.has(at + "cuInit")) return;
  static constexpr const char* kAnswers[] = {"UNKNOWN", "NO_DEVICE", "LEFT_OUT"};
  event.cuda_after_loss = static_cast<CudaAfterLoss>(in.choice(at + "cuInit", kAnswers));
}

// The values that an event of each kind needs besides the time.
enum class Needs { kBytes, kProcess, kBytesOfProcess, kPercent, kDevice };
struct Kind {
  const char* name;
  EventKind kind;
  Needs needs;
};
constexpr Kind kKinds[] = {
    {"anon", EventKind::kAnon, Needs::kBytes},
    {"shmem", EventKind::kShmem, Needs::kBytes},
    {"device", EventKind::kDevice, Needs::kBytesOfProcess},
    {"fileCache", EventKind::kFileCache, Needs::kBytes},
    {"fileDirty", EventKind::kFileDirty, Needs::kBytes},
    {"fileDelete", EventKind::kFileDelete, Needs::kBytes},
    {"slab", EventKind::kSlab, Needs::kBytes},
    {"slabUnreclaimable", EventKind::kSlabUnreclaimable, Needs::kBytes},
    {"free", EventKind::kFree, Needs::kBytesOfProcess},
    {"exit", EventKind::kExit, Needs::kProcess},
    {"oomKill", EventKind::kOomKill, Needs::kProcess},
    {"pressure", EventKind::kPressure, Needs::kPercent},
    {"lost", EventKind::kLost, Needs::kDevice},
};

const Kind& parse_kind(Description& in, const std::string& path) {
  const char* names[std::size(kKinds)];
  for (size_t i = 0; i < std::size(kKinds); i++) names[i] = kKinds[i].name;
  return kKinds[in.choice(path, names)];
}

void parse_duration(Description& in, const std::string& at, ScriptedEvent& event) {
  if (in.has(at + "overMs")) in.number(at + "overMs", &event.over_ms);
  if (!in.has(at + "bytesPerSecond")) return;
  double rate = 0;
  in.number(at + "bytesPerSecond", &rate);
  if (rate <= 0) return in.fail(at + "bytesPerSecond must be more than 0");
  event.over_ms = static_cast<double>(event.bytes) / rate * 1000;
}

// Returns whether an event of this kind can follow a curve: memory that can also shrink, and
// pressure.
bool has_curve(EventKind kind) {
  switch (kind) {
    case EventKind::kAnon:
    case EventKind::kShmem:
    case EventKind::kDevice:
    case EventKind::kFileCache:
    case EventKind::kSlab:
    case EventKind::kSlabUnreclaimable:
    case EventKind::kPressure:
      return true;
    default:
      return false;
  }
}

void parse_point(Description& in, const std::string& at, EventKind kind, CurvePoint& point) {
  in.number(at + "afterMs", &point.after_ms);
  if (kind == EventKind::kPressure) return in.number(at + "percent", &point.value);
  uint64_t bytes = 0;
  in.bytes(at + "bytes", &bytes);
  point.value = static_cast<double>(bytes);
}

// The points of a curve, which are in the order of their times.
void parse_points(Description& in, const std::string& at, Machine& machine, ScriptedEvent& event) {
  if (!has_curve(event.kind)) return in.fail(at + "points: this kind of event has no curve");
  event.point_begin = machine.point_count;
  const auto path = [&](int i) { return at + "points." + std::to_string(i) + "."; };
  for (int& i = event.point_count; in.has(at + "points." + std::to_string(i)); i++) {
    if (machine.point_count == kMaxPoints) {
      return in.fail("the events have more than 1024 points together");
    }
    CurvePoint& point = machine.points[machine.point_count++];
    parse_point(in, path(i), event.kind, point);
    if (i > 0 && point.after_ms < machine.points[machine.point_count - 2].after_ms) {
      return in.fail(path(i) + "afterMs is before that of the point in front of it");
    }
  }
  if (!in.has(at + "repeatMs")) return;
  in.number(at + "repeatMs", &event.repeat_ms);
  if (event.repeat_ms < machine.points[machine.point_count - 1].after_ms) {
    in.fail(at + "repeatMs is before the last point");
  }
}

void parse_process_of_event(Description& in, const std::string& at, const Machine& machine,
                            ScriptedEvent& event) {
  const std::string name = in.value(at + "process");
  for (int i = 0; i < machine.process_count; i++) {
    if (name == machine.processes[i].name) event.process = i;
  }
  if (event.process < 0) {
    in.fail(at + "process is \"" + name + "\"; expected the name of a process");
  }
}

void parse_event(Description& in, const std::string& at, Machine& machine, ScriptedEvent& event) {
  const Kind& kind = parse_kind(in, at + "what");
  event.kind = kind.kind;
  in.number(at + "atMs", &event.at_ms);
  if (in.has(at + "afterFirstAllocation")) {
    in.boolean(at + "afterFirstAllocation", &event.after_first_allocation);
  }
  const bool of_process = kind.needs == Needs::kProcess || kind.needs == Needs::kBytesOfProcess;
  const bool of_bytes = kind.needs == Needs::kBytes || kind.needs == Needs::kBytesOfProcess;
  if (in.has(at + "points")) {
    parse_points(in, at, machine, event);
  } else {
    if (of_bytes) in.bytes(at + "bytes", &event.bytes);
    if (kind.needs == Needs::kPercent) in.number(at + "percent", &event.percent);
  }
  if (kind.needs == Needs::kDevice) parse_loss(in, at, machine, event);
  parse_duration(in, at, event);
  event.process = -1;
  if (of_process || in.has(at + "process")) parse_process_of_event(in, at, machine, event);
}

}  // namespace

void parse_scenario(Description& in, Machine& machine) {
  parse_processes(in, machine);
  for (int& i = machine.event_count; in.has("events." + std::to_string(i)); i++) {
    if (i == kMaxEvents) return in.fail("events has more than 64 entries");
    parse_event(in, "events." + std::to_string(i) + ".", machine, machine.events[i]);
  }
}

}  // namespace umasim

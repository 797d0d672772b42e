// What happens on a machine: processes and events, and what goes wrong.
#include <cstring>

#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

void read_processes(Description& in, Machine& machine) {
  for (int& i = machine.process_count; in.has("processes." + std::to_string(i)); i++) {
    if (i == kMaxScripted) return in.fail("processes has more than 32 entries");
    const std::string at = "processes." + std::to_string(i) + ".";
    Scripted& process = machine.processes[i];
    in.text(at + "name", process.name);
    in.integer(at + "pid", &process.pid);
    in.bytes(at + "gpuBytes", &process.gpu_bytes);
    in.bytes(at + "anonBytes", &process.anon_bytes);
    process.device = bytes_or(in, at + "device", 0);
    if (in.has(at + "list"))
      process.graphics = choice(in, at + "list", {"compute", "graphics"}) == 1;
    if (process.gpu_bytes > 0 && process.device >= static_cast<uint64_t>(machine.device_count)) {
      in.fail(at + "device is " + std::to_string(process.device) + ", there is no such device");
    }
  }
}

void read_event(Description& in, const std::string& at, const Machine& machine, Event& event) {
  static constexpr const char* kWords[] = {"anon",      "shmem", "device", "fileCache",
                                           "fileDirty", "free",  "exit"};
  event.what = static_cast<Happening>(choice(in, at + "what", kWords));
  in.number(at + "atMs", &event.at_ms);
  if (event.what != Happening::kExit) in.bytes(at + "bytes", &event.bytes);
  if (in.has(at + "afterFirstAllocation")) {
    in.boolean(at + "afterFirstAllocation", &event.after_first_allocation);
  }
  if (in.has(at + "overMs")) in.number(at + "overMs", &event.over_ms);
  if (in.has(at + "bytesPerSecond")) {
    double rate = 0;
    in.number(at + "bytesPerSecond", &rate);
    if (rate <= 0) return in.fail(at + "bytesPerSecond must be more than 0");
    event.over_ms = static_cast<double>(event.bytes) / rate * 1000;
  }
  event.process = -1;
  const bool needs_process = event.what == Happening::kDevice || event.what == Happening::kFree ||
                             event.what == Happening::kExit;
  if (!needs_process && !in.has(at + "process")) return;
  const std::string name = in.word(at + "process");
  for (int i = 0; i < machine.process_count; i++) {
    if (name == machine.processes[i].name) event.process = i;
  }
  if (event.process < 0) in.fail(at + "process is \"" + name + "\", which is not in processes");
}

void read_faults_of(Description& in, const char* kind, Fault (&faults)[kMaxFaults], int& count) {
  for (; in.has(std::string("faults.") + kind + "." + std::to_string(count)); count++) {
    const std::string at = std::string("faults.") + kind + "." + std::to_string(count) + ".";
    if (count == kMaxFaults) return in.fail(at + ": more than 16 faults of a kind");
    Fault& fault = faults[count];
    in.text(at + "call", fault.call);
    if (std::strcmp(kind, "hang") == 0) {
      in.number(at + "ms", &fault.hang_ms);
    } else {
      in.integer(at + "status", &fault.status);
    }
    fault.after = bytes_or(in, at + "after", 0);
    fault.times = bytes_or(in, at + "times", kUnlimited);
  }
}

void read_corruptions(Description& in, Machine& machine) {
  for (int& i = machine.corrupt_count; in.has("faults.corrupt." + std::to_string(i)); i++) {
    if (i == kMaxFaults) return in.fail("faults.corrupt has more than 16 entries");
    const std::string at = "faults.corrupt." + std::to_string(i) + ".";
    Corruption& fault = machine.corruptions[i];
    in.bytes(at + "offset", &fault.offset);
    fault.after = bytes_or(in, at + "after", 0);
    fault.times = bytes_or(in, at + "times", kUnlimited);
  }
}

void read_missing(Description& in, Machine& machine) {
  for (int& i = machine.missing_count; in.has("faults.missingSymbols." + std::to_string(i)); i++) {
    if (i == kMaxMissing) return in.fail("faults.missingSymbols has more than 16 entries");
    in.text("faults.missingSymbols." + std::to_string(i), machine.missing_symbols[i]);
  }
  for (int i = 0; in.has("faults.missingLibraries." + std::to_string(i)); i++) {
    const int library =
        choice(in, "faults.missingLibraries." + std::to_string(i), {"cudart", "cuda", "nvml"});
    (library == 0   ? machine.lacks_cudart
     : library == 1 ? machine.lacks_cuda
                    : machine.lacks_nvml) = true;
  }
}

}  // namespace

void read_scenario(Description& in, Machine& machine) {
  read_processes(in, machine);
  for (int& i = machine.event_count; in.has("events." + std::to_string(i)); i++) {
    if (i == kMaxEvents) return in.fail("events has more than 64 entries");
    read_event(in, "events." + std::to_string(i) + ".", machine, machine.events[i]);
  }
}

void read_faults(Description& in, Machine& machine) {
  read_faults_of(in, "hang", machine.hangs, machine.hang_count);
  read_faults_of(in, "fail", machine.fails, machine.fail_count);
  read_corruptions(in, machine);
  read_missing(in, machine);
}

}  // namespace umasim

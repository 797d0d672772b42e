// Parses the faults of a machine: hangs, failures, corrupt fills, missing symbols and libraries.
#include <cstring>

#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

// The index of the device that a fault is limited to; -1 without one.
int parse_fault_device(Description& in, const std::string& path, const Machine& machine) {
  if (!in.has(path)) return -1;
  uint64_t device = 0;
  in.bytes(path, &device);
  if (device >= static_cast<uint64_t>(machine.device_count)) {
    in.fail(path + " is " + std::to_string(device) + "; expected the index of a device");
    return -1;
  }
  return static_cast<int>(device);
}

void parse_call_faults(Description& in, const char* kind, const Machine& machine,
                       Fault (&faults)[kMaxFaults], int& count) {
  for (; in.has(std::string("faults.") + kind + "." + std::to_string(count)); count++) {
    const std::string at = std::string("faults.") + kind + "." + std::to_string(count) + ".";
    if (count == kMaxFaults) {
      return in.fail(std::string("faults.") + kind + " has more than 16 entries");
    }
    Fault& fault = faults[count];
    in.text(at + "call", fault.call);
    if (std::strcmp(kind, "hang") == 0) {
      in.number(at + "ms", &fault.hang_ms);
    } else {
      in.integer(at + "status", &fault.status);
    }
    fault.after = in.bytes_or(at + "after", 0);
    fault.times = in.bytes_or(at + "times", kUnlimited);
    fault.device = parse_fault_device(in, at + "device", machine);
  }
}

void parse_corruptions(Description& in, Machine& machine) {
  for (int& i = machine.corrupt_count; in.has("faults.corrupt." + std::to_string(i)); i++) {
    if (i == kMaxFaults) return in.fail("faults.corrupt has more than 16 entries");
    const std::string at = "faults.corrupt." + std::to_string(i) + ".";
    Corruption& fault = machine.corruptions[i];
    in.bytes(at + "offset", &fault.offset);
    fault.after = in.bytes_or(at + "after", 0);
    fault.times = in.bytes_or(at + "times", kUnlimited);
  }
}

void parse_missing(Description& in, Machine& machine) {
  for (int& i = machine.missing_count; in.has("faults.missingSymbols." + std::to_string(i)); i++) {
    if (i == kMaxMissing) return in.fail("faults.missingSymbols has more than 16 entries");
    in.text("faults.missingSymbols." + std::to_string(i), machine.missing_symbols[i]);
  }
  for (int i = 0; in.has("faults.missingLibraries." + std::to_string(i)); i++) {
    const int library =
        in.choice("faults.missingLibraries." + std::to_string(i), {"cudart", "cuda", "nvml"});
    (library == 0   ? machine.lacks_cudart
     : library == 1 ? machine.lacks_cuda
                    : machine.lacks_nvml) = true;
  }
}

}  // namespace

void parse_faults(Description& in, Machine& machine) {
  parse_call_faults(in, "hang", machine, machine.hangs, machine.hang_count);
  parse_call_faults(in, "fail", machine, machine.fails, machine.fail_count);
  parse_corruptions(in, machine);
  parse_missing(in, machine);
}

}  // namespace umasim

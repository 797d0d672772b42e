// Parses the flat description of a machine.
#pragma once
#include <string>

#include "sim/state/description.h"
#include "sim/state/machine.h"

namespace umasim {

// Returns an empty string, or the first error of the description.
std::string parse_machine(const char* description, Machine* machine);

// The parts of parse_machine().
void parse_devices(Description& in, Machine& machine);
void parse_nvml(Description& in, const std::string& at, NvmlAnswers& nvml);
// Processes and events. Call it after parse_devices(), because processes refer to devices.
void parse_scenario(Description& in, Machine& machine);
// Call it after parse_devices(), because faults refer to devices.
void parse_faults(Description& in, Machine& machine);

void parse_files(Description& in, Machine& machine);

}  // namespace umasim

// The attributes of a device by their number, which runtime and driver share.
#pragma once
#include "sim/state/machine.h"

namespace umasim {

// Returns false for a number that is no CUDA attribute. An attribute that the machine does not
// describe is 0.
bool device_attribute(const Machine& machine, int device, int attribute, int* value);

}  // namespace umasim

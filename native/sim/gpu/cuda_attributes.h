// Attributes of a device by CUDA's number; runtime and driver use the same ones.
#pragma once
#include "sim/state/machine.h"

namespace umasim {

// False when CUDA has no such attribute. One that the machine does not describe is 0.
bool device_attribute(const Machine& machine, int device, int attribute, int* value);
// "12.1" → 12 and 1.
void compute_capability(const Device& device, int* major, int* minor);
// The 16 bytes of "GPU-xxxxxxxx-…".
void uuid_bytes(const Device& device, unsigned char out[16]);
struct PciAddress {
  unsigned domain, bus, device;
};
PciAddress pci_address(const Device& device);

}  // namespace umasim

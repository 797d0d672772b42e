// The identity of a device, parsed from the texts of its description.
#pragma once
#include "sim/state/machine.h"

namespace umasim {

// "12.1" → 12 and 1.
void compute_capability(const Device& device, int* major, int* minor);
// The 16 bytes of "GPU-xxxxxxxx-…".
void uuid_bytes(const Device& device, unsigned char out[16]);

struct PciAddress {
  unsigned domain, bus, device;
};
PciAddress pci_address(const Device& device);

}  // namespace umasim

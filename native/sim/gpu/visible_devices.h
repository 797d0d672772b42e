// The devices that CUDA shows to a process, and their order.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Indices into Machine::devices, in the order of CUDA's ordinals.
struct VisibleDevices {
  int count, index[kMaxDevices];
};

// Finds the devices of cuInit by CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of the process: sets
// `visible` and returns 0, or returns its error.
int find_visible_devices(const State& state, VisibleDevices* visible);

// The ordinal of the device at a PCI address such as "0000:01:00.0". Returns a cudaError_t.
int ordinal_at(const Machine& machine, const VisibleDevices& visible, const char* pci_bus_id,
               int* ordinal);

}  // namespace umasim

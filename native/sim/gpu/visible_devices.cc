#include "sim/gpu/visible_devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "abi/cuda.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

// Returns what the description says about the loss of a device that is lost.
CudaAfterLoss after_loss(const Machine& machine, int device) {
  for (int i = 0; i < machine.event_count; i++) {
    const ScriptedEvent& event = machine.events[i];
    if (event.kind == EventKind::kLost && event.device == device) return event.cuda_after_loss;
  }
  return CudaAfterLoss::kUnknownError;
}

bool is_left_out(const State& state, int device) {
  return is_lost(state, device) &&
         after_loss(state.machine, device) == CudaAfterLoss::kLeavesDeviceOut;
}

void add(VisibleDevices& list, int device) {
  list.index[list.count] = device;
  list.count++;
}

bool contains(const VisibleDevices& list, int device) {
  return std::find(list.index, list.index + list.count, device) != list.index + list.count;
}

// The devices of the machine in the order of CUDA_DEVICE_ORDER. NVIDIA does not say which device is
// the fastest; here the measure is multiprocessors times clock.
VisibleDevices all_devices(const State& state) {
  VisibleDevices all{};
  for (int device = 0; device < state.machine.device_count; device++) {
    if (!is_left_out(state, device)) add(all, device);
  }
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  if (order != nullptr && std::strcmp(order, "PCI_BUS_ID") == 0) return all;
  std::stable_sort(all.index, all.index + all.count, [&](int a, int b) {
    const auto speed = [&](int device) {
      const Attributes& attributes = state.machine.devices[device].attributes;
      return attributes.multiProcessorCount * attributes.clockRateKHz;
    };
    return speed(a) > speed(b);
  });
  return all;
}

// The device that an entry of CUDA_VISIBLE_DEVICES names, by its place in `all` or by the first
// characters of its UUID; -1 for an invalid entry.
int named_device(const Machine& machine, const VisibleDevices& all, const std::string& entry) {
  const size_t begin = entry.find_first_not_of(" \t");
  const std::string text = begin == std::string::npos ? std::string() : entry.substr(begin);
  if (text.compare(0, 4, "GPU-") == 0) {
    int found = -1;
    for (int i = 0; i < all.count; i++) {
      if (std::strncmp(machine.devices[all.index[i]].uuid, text.c_str(), text.size()) != 0)
        continue;
      if (found >= 0) return -1;  // the prefix is not unique
      found = all.index[i];
    }
    return found;
  }
  char* end = nullptr;
  const long place = std::strtol(text.c_str(), &end, 10);
  const bool valid = end != text.c_str() && place >= 0 && place < all.count;
  return valid ? all.index[place] : -1;
}

// The part of `all` that the text of CUDA_VISIBLE_DEVICES names. An invalid entry hides the devices
// after it, a device that is named twice hides all.
VisibleDevices select(const Machine& machine, const VisibleDevices& all, const std::string& names) {
  VisibleDevices visible{};
  for (size_t begin = 0; begin <= names.size();) {
    const size_t comma = std::min(names.find(',', begin), names.size());
    const int device = named_device(machine, all, names.substr(begin, comma - begin));
    if (device < 0) break;

    if (contains(visible, device)) return {};
    add(visible, device);
    begin = comma + 1;
  }
  return visible;
}

}  // namespace

int find_visible_devices(const State& state, VisibleDevices* visible) {
  const VisibleDevices all = all_devices(state);
  const char* names = std::getenv("CUDA_VISIBLE_DEVICES");
  *visible = names == nullptr ? all : select(state.machine, all, names);
  for (int i = 0; i < visible->count; i++) {
    if (!is_lost(state, visible->index[i])) continue;
    return after_loss(state.machine, visible->index[i]) == CudaAfterLoss::kNoDevice
               ? umaprobe::kCudaNoDevice
               : umaprobe::kCudaUnknown;
  }
  return visible->count == 0 ? umaprobe::kCudaNoDevice : umaprobe::kCudaSuccess;
}

int ordinal_at(const Machine& machine, const VisibleDevices& visible, const char* pci_bus_id,
               int* ordinal) {
  unsigned domain, bus, slot;
  if (std::sscanf(pci_bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
    return umaprobe::kCudaInvalidValue;
  }
  for (*ordinal = 0; *ordinal < visible.count; ++*ordinal) {
    const PciAddress address = pci_address(machine.devices[visible.index[*ordinal]]);
    if (address.domain == domain && address.bus == bus && address.device == slot) return 0;
  }
  return umaprobe::kCudaInvalidDevice;
}

}  // namespace umasim

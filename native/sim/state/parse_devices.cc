// Parses the devices of a machine.
#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

// A device that shares the host's memory may have a carve-out beside MemTotal, which only NVML
// counts.
void check_memory(Description& in, const std::string& at, const Device& device) {
  const bool carve_out = device.shares_host_memory && device.memory != 0;
  if (!device.shares_host_memory && device.memory == 0) {
    in.fail(at + "memory must be a number if sharesHostMemory is false");
  }
  if (carve_out && device.nvml.memory != NvmlMemory::kOwn) {
    in.fail(at + "memory must be null if sharesHostMemory is true, unless nvml.memory is \"OWN\"");
  }
  if (!device.shares_host_memory && device.cuda_total != kUnlimited) {
    in.fail(at + "cudaTotal must be null if sharesHostMemory is false");
  }
}

void parse_device(Description& in, const std::string& at, Device& device) {
  in.text(at + "name", device.name);
  in.text(at + "uuid", device.uuid);
  in.text(at + "pciBusId", device.pci_bus_id);
  in.text(at + "pciDeviceId", device.pci_device_id);
  in.text(at + "computeCapability", device.compute_capability);
  in.boolean(at + "sharesHostMemory", &device.shares_host_memory);
  in.boolean(at + "sysmemFallback", &device.sysmem_fallback);
  device.memory = in.bytes_or(at + "memory", 0);
  in.bytes(at + "reserved", &device.reserved);
  in.bytes(at + "contextBytes", &device.context_bytes);
  device.largest_allocation = in.bytes_or(at + "largestAllocation", kUnlimited);
  device.largest_total = in.bytes_or(at + "largestTotal", kUnlimited);
  device.cuda_total = in.bytes_or(at + "cudaTotal", kUnlimited);
  if (device.reserved > device.memory) in.fail(at + "reserved is more than memory");
  if (device.shares_host_memory && device.sysmem_fallback) {
    in.fail(at + "sysmemFallback must be false if sharesHostMemory is true");
  }
#define X(name, ...)                    \
  if (in.has(at + "attributes." #name)) \
    in.integer(at + "attributes." #name, &device.attributes.name);
  UMAPROBE_CUDA_ATTRIBUTES(X)
#undef X
  parse_nvml(in, at + "nvml.", device.nvml);
  check_memory(in, at, device);
}

}  // namespace

void parse_devices(Description& in, Machine& machine) {
  for (int& i = machine.device_count; in.has("devices." + std::to_string(i)); i++) {
    if (i == kMaxDevices) return in.fail("devices has more than 8 entries");
    parse_device(in, "devices." + std::to_string(i) + ".", machine.devices[i]);
  }
}

}  // namespace umasim

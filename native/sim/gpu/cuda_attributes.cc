#include "sim/gpu/cuda_attributes.h"

#include "abi/cuda.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

struct Row {
  int number;
  int64_t Attributes::*field;
};

constexpr Row kDescribed[] = {
    {umaprobe::kAttrClockRate, &Attributes::clock_khz},
    {umaprobe::kAttrMultiProcessorCount, &Attributes::multi_processor_count},
    {umaprobe::kAttrIntegrated, &Attributes::integrated},
    {umaprobe::kAttrCanMapHostMemory, &Attributes::can_map_host_memory},
    {umaprobe::kAttrMemoryClockRate, &Attributes::memory_clock_khz},
    {umaprobe::kAttrGlobalMemoryBusWidth, &Attributes::memory_bus_width},
    {umaprobe::kAttrL2CacheSize, &Attributes::l2_cache_size},
    {umaprobe::kAttrAsyncEngineCount, &Attributes::async_engine_count},
    {umaprobe::kAttrUnifiedAddressing, &Attributes::unified_addressing},
    {umaprobe::kAttrManagedMemory, &Attributes::managed_memory},
    {umaprobe::kAttrPageableMemoryAccess, &Attributes::pageable_memory_access},
    {umaprobe::kAttrConcurrentManagedAccess, &Attributes::concurrent_managed_access},
    {umaprobe::kAttrHostRegisterSupported, &Attributes::host_register},
    {umaprobe::kAttrPageableMemoryAccessUsesHostPageTables,
     &Attributes::pageable_uses_host_page_tables},
    {umaprobe::kAttrDirectManagedMemAccessFromHost, &Attributes::direct_managed_from_host},
    {umaprobe::kAttrHostRegisterReadOnlySupported, &Attributes::host_register_read_only},
    {umaprobe::kAttrMemoryPoolsSupported, &Attributes::memory_pools},
    {umaprobe::kAttrGpuDirectRdmaSupported, &Attributes::gpu_direct_rdma},
    {umaprobe::kAttrDmaBufSupported, &Attributes::dma_buf},
    {umaprobe::kAttrHostNumaId, &Attributes::host_numa_id},
};

// Equal on all GPUs of these generations; common programs read them.
struct Constant {
  int number, value;
};
constexpr Constant kConstant[] = {
    {1, 1024},        // max threads per block
    {2, 1024},        // max block dim x
    {3, 1024},        // y
    {4, 64},          // z
    {5, 2147483647},  // max grid dim x
    {6, 65535},       // y
    {7, 65535},       // z
    {8, 49152},       // shared memory per block
    {9, 65536},       // constant memory
    {10, 32},         // warp size
    {12, 65536},      // registers per block
    {31, 1},          // concurrent kernels
};

constexpr int kLastAttribute = 147;  // the last of CUDA 13.0

}  // namespace

bool device_attribute(const Machine& machine, int device, int attribute, int* value) {
  if (attribute < 1 || attribute > kLastAttribute) return false;
  const Device& facts = machine.devices[device];
  *value = 0;
  for (const Row& row : kDescribed) {
    if (row.number == attribute) *value = static_cast<int>(facts.attributes.*row.field);
  }
  for (const Constant& row : kConstant) {
    if (row.number == attribute) *value = row.value;
  }
  int major, minor;
  compute_capability(facts, &major, &minor);
  const PciAddress pci = pci_address(facts);
  if (attribute == umaprobe::kAttrComputeCapabilityMajor) *value = major;
  if (attribute == umaprobe::kAttrComputeCapabilityMinor) *value = minor;
  if (attribute == umaprobe::kAttrPciDomainId) *value = static_cast<int>(pci.domain);
  if (attribute == umaprobe::kAttrPciBusId) *value = static_cast<int>(pci.bus);
  if (attribute == umaprobe::kAttrPciDeviceId) *value = static_cast<int>(pci.device);
  return true;
}

}  // namespace umasim

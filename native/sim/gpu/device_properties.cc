#include "sim/gpu/device_properties.h"

#include <cstring>

#include "sim/gpu/cuda_attributes.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

template <typename Value>
void put(void* properties, size_t offset, Value value) {
  std::memcpy(static_cast<char*>(properties) + offset, &value, sizeof value);
}

}  // namespace

void fill_properties(const Machine& machine, int device, uint64_t total,
                     const PropertyLayout& layout, void* properties) {
  const Device& facts = machine.devices[device];
  std::memset(properties, 0, layout.size);
  std::memcpy(properties, facts.name, sizeof facts.name);
  uuid_bytes(facts, static_cast<unsigned char*>(properties) + layout.uuid);
  put(properties, layout.total_global_mem, static_cast<size_t>(total));
  put(properties, layout.shared_mem_per_block, size_t{49152});
  put(properties, layout.total_const_mem, size_t{65536});
  const auto attribute = [&](size_t offset, int number) {
    int value;
    if (offset != 0 && device_attribute(machine, device, number, &value)) {
      put(properties, offset, value);
    }
  };
  // The numbers are those of cudaDeviceAttr.
  attribute(layout.max_threads_per_block, 1);
  for (int axis = 0; axis < 3; axis++) {
    attribute(layout.max_threads_dim + sizeof(int) * static_cast<size_t>(axis), 2 + axis);
    attribute(layout.max_grid_size + sizeof(int) * static_cast<size_t>(axis), 5 + axis);
  }
  attribute(layout.warp_size, 10);
  attribute(layout.regs_per_block, 12);
  attribute(layout.clock_rate, 13);
  attribute(layout.multi_processor_count, 16);
  attribute(layout.integrated, 18);
  attribute(layout.can_map_host_memory, 19);
  attribute(layout.concurrent_kernels, 31);
  attribute(layout.pci_bus_id, 33);
  attribute(layout.pci_device_id, 34);
  attribute(layout.memory_clock_rate, 36);
  attribute(layout.memory_bus_width, 37);
  attribute(layout.l2_cache_size, 38);
  attribute(layout.async_engine_count, 40);
  attribute(layout.unified_addressing, 41);
  attribute(layout.pci_domain_id, 50);
  attribute(layout.major, 75);
  attribute(layout.minor, 76);
  attribute(layout.managed_memory, 83);
  attribute(layout.pageable_memory_access, 88);
  attribute(layout.concurrent_managed_access, 89);
  attribute(layout.host_register, 99);
  attribute(layout.pageable_uses_host_page_tables, 100);
  attribute(layout.direct_managed_from_host, 101);
  attribute(layout.host_register_read_only, 113);
  attribute(layout.memory_pools, 115);
  attribute(layout.gpu_direct_rdma, 116);
}

}  // namespace umasim

// cudaDeviceProp of CUDA 13, and of CUDA 12 for cudaGetDeviceProperties_v2: the offsets of the
// filled fields. test/clients/abi_cuda.cc compares those of CUDA 13 with NVIDIA's header.
#pragma once
#include <cstddef>

#include "sim/state/machine.h"

namespace umasim {

struct PropertyLayout {
  size_t size, uuid, total_global_mem, shared_mem_per_block, regs_per_block, warp_size,
      max_threads_per_block, max_threads_dim, max_grid_size, total_const_mem, major, minor,
      multi_processor_count, integrated, can_map_host_memory, concurrent_kernels, pci_bus_id,
      pci_device_id, pci_domain_id, async_engine_count, unified_addressing, memory_bus_width,
      l2_cache_size, managed_memory, pageable_memory_access, concurrent_managed_access,
      pageable_uses_host_page_tables, direct_managed_from_host, host_register,
      host_register_read_only, memory_pools, gpu_direct_rdma;
  size_t clock_rate, memory_clock_rate;  // 0: absent in this version
};

constexpr PropertyLayout kProperties13 = {
    1008, 256, 288, 296, 304, 308, 320, 324, 336, 352, 360, 364, 384, 388, 392, 560, 568,
    572,  576, 584, 588, 592, 596, 636, 652, 656, 680, 684, 704, 712, 720, 724, 0,   0};

constexpr PropertyLayout kProperties12 = {
    1032, 256, 288, 296, 304, 308, 320, 324, 336, 352, 360, 364, 388, 396, 400, 576, 584,
    588,  592, 600, 604, 612, 616, 652, 672, 676, 704, 708, 728, 736, 744, 748, 348, 608};

// Clears and fills `properties`.
void fill_properties(const Machine& machine, int device, uint64_t total,
                     const PropertyLayout& layout, void* properties);

}  // namespace umasim

// A machine as its file describes it: plain data of fixed size, because it lives in the state file
// that every process maps. The meaning of each field is in schemas/machine.schema.json.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace umasim {

constexpr int kMaxDevices = 8;
constexpr int kMaxScripted = 32;
constexpr int kMaxEvents = 64;
constexpr int kMaxFaults = 16;
constexpr int kMaxMissing = 16;
constexpr uint64_t kGiB = 1ull << 30;
constexpr uint64_t kUnlimited = ~0ull;
constexpr int64_t kNoPools = -1;

struct Kernel {
  char release[64], architecture[16], low_zone[8], transparent_huge_pages[8];
  uint64_t page_size, orders, low_zone_bytes;
};

struct Memory {
  uint64_t total, anon, file_cache, file_mapped, file_dirty, buffers, shmem, mlocked,
      slab_reclaimable, slab_unreclaimable, kernel_stack, page_tables, percpu, driver_held,
      swap_total, swap_used, huge_page_size, huge_pages_total, huge_pages_free, cma_total, cma_free,
      min_free, watermark_scale_factor, watermark_boost_factor, swappiness,
      compaction_proactiveness;
};

struct ContiguityRules {
  double share, after_reclaim, compactable, top_order_share, stall_ms;
  uint64_t largest_order;
  bool wedge_when_fragmented;
};

struct Driver {
  char version[32], nvml_version[32];
  uint64_t cuda_version, runtime_version, pool_bytes;
  int64_t system_memory_pools;  // kNoPools: the driver has no such parameter
  double pool_drain_after_ms, pool_drain_ms_per_gib;
};

struct Attributes {
  int64_t integrated, managed_memory, concurrent_managed_access, pageable_memory_access,
      pageable_uses_host_page_tables, direct_managed_from_host, host_register,
      host_register_read_only, can_map_host_memory, unified_addressing, memory_pools,
      gpu_direct_rdma, dma_buf, l2_cache_size, multi_processor_count, memory_bus_width,
      memory_clock_khz, clock_khz, async_engine_count, host_numa_id;
};

// A number, or the nvmlReturn_t that refuses it.
struct NvmlValue {
  int status;
  int64_t value;
};

enum class NvmlMemory : int { kRefused, kOwn, kHost };

struct NvmlAnswers {
  NvmlMemory memory;
  int memory_status;
  bool process_memory;
  NvmlValue addressing_mode, mig_mode, utilization, temperature, power, sm_clock, max_sm_clock,
      memory_clock, performance_state;
};

struct Device {
  char name[96], uuid[48], pci_bus_id[32], pci_device_id[12], compute_capability[8];
  bool shares_host_memory, sysmem_fallback;
  uint64_t memory, reserved, context_bytes, largest_allocation, largest_total;
  Attributes attributes;
  NvmlAnswers nvml;
};

struct Timing {
  double fixed_us, cold, warm, free, reclaim, swap, managed_touch, system_touch, spill, drop,
      writeback, exit, bandwidth_gbps, system_bandwidth_gbps,
      context_ms;  // those without a unit: milliseconds a GiB
};

struct Scripted {
  char name[16];
  int64_t pid;
  uint64_t gpu_bytes, anon_bytes, device;
  bool graphics;
};

enum class Happening : int { kAnon, kShmem, kDevice, kFileCache, kFileDirty, kFree, kExit };

struct Event {
  Happening what;
  bool after_first_allocation;  // at_ms counts from there
  double at_ms, over_ms;
  uint64_t bytes;
  int process;  // index, -1: none
};

struct Fault {
  char call[64];
  double hang_ms;
  int64_t status;
  uint64_t after, times;
};

// At a fill that covers `offset` of what it fills, the byte there comes out wrong.
struct Corruption {
  uint64_t offset, after, times;
};

struct Machine {
  char name[48];
  double scale;
  Kernel kernel;
  Memory memory;
  ContiguityRules contiguity;
  Driver driver;
  Device devices[kMaxDevices];
  Timing timing;
  bool wedges;
  double wedge_after_ms;
  Scripted processes[kMaxScripted];
  Event events[kMaxEvents];
  Fault hangs[kMaxFaults], fails[kMaxFaults];
  Corruption corruptions[kMaxFaults];
  char missing_symbols[kMaxMissing][64];
  bool lacks_cudart, lacks_cuda, lacks_nvml;
  int device_count, process_count, event_count, hang_count, fail_count, corrupt_count,
      missing_count;
};

// Reads a flat description. Empty, or a sentence about the first thing that is wrong with it.
std::string parse_machine(const char* description, Machine* machine);

}  // namespace umasim

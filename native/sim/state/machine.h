// The description of a machine: plain data of fixed size, because it is part of the shared state
// file. schemas/machine.schema.json documents each field.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi/cuda.h"

namespace umasim {

constexpr int kMaxDevices = 8;
constexpr int kMaxScripted = 32;
constexpr int kMaxEvents = 64;
constexpr int kMaxPoints = 1024;  // of all events together
constexpr int kMaxFaults = 16;
constexpr int kMaxMissing = 16;
constexpr int kMaxFiles = 32;
constexpr uint64_t kFileTextBytes = 64 << 10;
constexpr uint64_t kGiB = 1ull << 30;
constexpr uint64_t kUnlimited = ~0ull;
constexpr int64_t kNoPools = -1;

struct LinuxKernel {
  char release[64], architecture[16], low_zone[8], transparent_huge_pages[8];
  uint64_t page_size, orders, low_zone_bytes;
};

struct Memory {
  uint64_t total, anon, file_cache, file_mapped, file_dirty, buffers, shmem, mlocked,
      slab_reclaimable, slab_unreclaimable, kernel_stack, page_tables, percpu, driver_held,
      swap_total, swap_used, huge_page_size, huge_pages_total, huge_pages_free, cma_total, cma_free,
      min_free, watermark_scale_factor, watermark_boost_factor, swappiness,
      compaction_proactiveness, free_in_cpu_lists;
};

struct ContiguityRules {
  double share, after_reclaim, compactable, top_order_share, stall_ms;
  uint64_t largest_order;
  bool wedge_when_fragmented;
};

struct Driver {
  char version[32], nvml_version[32];
  uint64_t cuda_version, runtime_version, pool_bytes;
  int64_t system_memory_pools;  // kNoPools: the driver lacks the parameter
  double pool_drain_after_ms, pool_drain_ms_per_gib;
};

struct Attributes {
#define X(name, ...) int64_t name;
  UMAPROBE_CUDA_ATTRIBUTES(X)
#undef X
};

// A value, or the nvmlReturn_t of the refusal.
struct NvmlValue {
  int status;
  int64_t value;
};

struct NvmlText {
  int status;
  char value[32];
};

enum class NvmlMemory : int { kRefused, kOwn, kHost };

struct NvmlAnswers {
  NvmlMemory memory;
  int memory_status;
  bool process_memory;
  NvmlValue addressing_mode, mig_mode, utilization, temperature, power, sm_clock, max_sm_clock,
      memory_clock, performance_state;
  // Refused as NOT_SUPPORTED unless the machine file has them.
  NvmlValue pcie_generation, pcie_width, max_pcie_generation, max_pcie_width, pcie_throughput,
      shutdown_temperature, slowdown_temperature, max_temperature, fan, fan_count, power_limit,
      min_power_limit, max_power_limit, encoder, decoder, bar1, brand, gpu_cores, ecc_mode,
      persistence_mode, compute_mode, display_mode, display_active;
  NvmlText serial, vbios_version;
};

struct Device {
  char name[96], uuid[48], pci_bus_id[32], pci_device_id[12], compute_capability[8];
  bool shares_host_memory, sysmem_fallback;
  uint64_t memory, reserved, context_bytes, largest_allocation, largest_total;
  uint64_t cuda_total;  // kUnlimited: MemTotal, or the device's own memory
  Attributes attributes;
  NvmlAnswers nvml;
};

struct Timing {
  double fixed_us, cold, warm, free, reclaim, swap, managed_touch, system_touch, spill, drop,
      writeback, exit, compact, bandwidth_gbps, system_bandwidth_gbps,
      context_ms;  // fields without a unit: milliseconds per GiB
};

struct ScriptedProcess {
  char name[16];
  int64_t pid;
  uint64_t gpu_bytes, anon_bytes, device;
  bool graphics;
};

enum class EventKind : int {
  kAnon,
  kShmem,
  kDevice,
  kFileCache,
  kFileDirty,
  kFileDelete,
  kSlab,
  kSlabUnreclaimable,
  kFree,
  kExit,
  kOomKill,
  kPressure,
  kLost
};

// The answer of cuInit in a process that starts after the loss of a device.
enum class CudaAfterLoss : int { kUnknownError, kNoDevice, kLeavesDeviceOut };

// A point of an event that follows a curve.
struct CurvePoint {
  double after_ms;  // time since the event began
  double value;     // bytes; of kPressure percent
};

struct ScriptedEvent {
  EventKind kind;
  bool after_first_allocation;  // at_ms counts from the first allocation
  double at_ms, over_ms;
  uint64_t bytes;
  int process;     // index into processes; -1: none
  int device;      // kLost only
  double percent;  // kPressure only
  int point_begin,
      point_count;   // its range in Machine::points; 0 points: the event has bytes or percent
  double repeat_ms;  // the curve begins again after this time; 0: never
  CudaAfterLoss cuda_after_loss;
};

struct Fault {
  char call[64];
  double hang_ms;
  int64_t status;
  uint64_t after, times;
  int device;  // index of the only device whose calls it hits; -1: calls of any device or none
};

// Inverts the byte at `offset` when the fill kernel writes it.
struct Corruption {
  uint64_t offset, after, times;
};

// The answer of a file: its usual one, the text of the description, or an error.
enum class FileAnswer : int { kUsual, kText, kMissing, kError };

struct ReplacedFile {
  char path[128];
  FileAnswer answer;
  int error;                       // kError: an errno
  uint64_t text_begin, text_size;  // kText: its range in Machine::file_texts
  double hang_ms;                  // delay before the answer
};

struct Machine {
  char name[48];
  double scale;
  LinuxKernel linux_kernel;
  Memory memory;
  ContiguityRules contiguity;
  Driver driver;
  Device devices[kMaxDevices];
  Timing timing;
  bool wedges;
  double wedge_after_ms;
  ScriptedProcess processes[kMaxScripted];
  ScriptedEvent events[kMaxEvents];
  CurvePoint points[kMaxPoints];
  Fault hangs[kMaxFaults], fails[kMaxFaults];
  Corruption corruptions[kMaxFaults];
  ReplacedFile files[kMaxFiles];
  char file_texts[kFileTextBytes];
  uint64_t file_texts_used;
  char missing_symbols[kMaxMissing][64];
  bool lacks_cudart, lacks_cuda, lacks_nvml;
  int device_count, process_count, event_count, point_count, hang_count, fail_count, corrupt_count,
      missing_count, file_count;
};

}  // namespace umasim

// The description of a machine: plain data of fixed size, because it is part of the shared state
// file. schemas/machine.schema.json documents each field.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi/cuda.h"

// Numbers of a machine: X(member, key of the description).
// clang-format off
#define UMASIM_MEMORY(X)                                                            \
  X(total, total) X(anon, anon) X(file_cache, fileCache) X(file_mapped, fileMapped) \
  X(file_dirty, fileDirty) X(buffers, buffers) X(shmem, shmem) X(mlocked, mlocked)  \
  X(slab_reclaimable, slabReclaimable) X(slab_unreclaimable, slabUnreclaimable)     \
  X(kernel_stack, kernelStack) X(page_tables, pageTables) X(percpu, percpu)         \
  X(driver_held, driverHeld) X(swap_total, swapTotal) X(swap_used, swapUsed)        \
  X(huge_page_size, hugePageSize) X(huge_pages_total, hugePagesTotal)               \
  X(huge_pages_free, hugePagesFree) X(cma_total, cmaTotal) X(cma_free, cmaFree)     \
  X(min_free, minFree) X(watermark_scale_factor, watermarkScaleFactor)              \
  X(watermark_boost_factor, watermarkBoostFactor) X(swappiness, swappiness)         \
  X(compaction_proactiveness, compactionProactiveness)
#define UMASIM_TIMING(X)                                                                   \
  X(fixed_us, fixedUs) X(cold, coldMsPerGiB) X(warm, warmMsPerGiB) X(free, freeMsPerGiB)   \
  X(reclaim, reclaimMsPerGiB) X(swap, swapMsPerGiB) X(managed_touch, managedTouchMsPerGiB) \
  X(system_touch, systemTouchMsPerGiB) X(spill, spillMsPerGiB) X(drop, dropMsPerGiB)       \
  X(writeback, writebackMsPerGiB) X(exit, exitMsPerGiB) X(bandwidth_gbps, bandwidthGBps)   \
  X(system_bandwidth_gbps, systemBandwidthGBps) X(context_ms, contextMs)
#define UMASIM_NVML_VALUES(X)                                                                \
  X(addressing_mode, addressingMode) X(mig_mode, migMode) X(utilization, utilizationPercent) \
  X(temperature, temperatureC) X(power, powerMilliwatt) X(sm_clock, smClockMHz)              \
  X(max_sm_clock, maxSmClockMHz) X(memory_clock, memoryClockMHz)                             \
  X(performance_state, performanceState)
// NVML refuses these as NOT_SUPPORTED unless the machine file has them.
#define UMASIM_OPTIONAL_NVML_VALUES(X)                                                       \
  X(pcie_generation, pcieGeneration) X(pcie_width, pcieWidth)                                \
  X(max_pcie_generation, maxPcieGeneration) X(max_pcie_width, maxPcieWidth)                  \
  X(pcie_throughput, pcieThroughputKBps) X(shutdown_temperature, shutdownTemperatureC)       \
  X(slowdown_temperature, slowdownTemperatureC) X(max_temperature, maxTemperatureC)          \
  X(fan, fanPercent) X(fan_count, fanCount) X(power_limit, powerLimitMilliwatt)              \
  X(min_power_limit, minPowerLimitMilliwatt) X(max_power_limit, maxPowerLimitMilliwatt)      \
  X(encoder, encoderPercent) X(decoder, decoderPercent) X(bar1, bar1Bytes) X(brand, brand)   \
  X(gpu_cores, gpuCores) X(ecc_mode, eccMode) X(persistence_mode, persistenceMode)           \
  X(compute_mode, computeMode) X(display_mode, displayMode) X(display_active, displayActive)
// clang-format on

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
#define X(member, key) uint64_t member;
  UMASIM_MEMORY(X)
#undef X
  uint64_t free_in_cpu_lists;
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
#define X(member, key) NvmlValue member;
  UMASIM_NVML_VALUES(X)
  UMASIM_OPTIONAL_NVML_VALUES(X)
#undef X
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
#define X(member, key) double member;
  UMASIM_TIMING(X)
#undef X
  double compact;  // milliseconds per GiB
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
  int process;                   // index into processes; -1: none
  int device;                    // kLost only
  double percent;                // kPressure only
  int point_begin, point_count;  // in Machine::points; 0: the event has bytes or percent
  double repeat_ms;              // the curve begins again after this time; 0: never
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

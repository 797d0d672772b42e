#include "machine.h"

#include "description.h"
#include "nvml_abi.h"

namespace umasim {
namespace {

template <typename Struct, typename Value>
struct Field {
  const char* key;
  Value Struct::*member;
};

constexpr Field<Memory, uint64_t> kMemory[] = {
    {"total", &Memory::total},
    {"anon", &Memory::anon},
    {"fileCache", &Memory::file_cache},
    {"fileMapped", &Memory::file_mapped},
    {"fileDirty", &Memory::file_dirty},
    {"buffers", &Memory::buffers},
    {"shmem", &Memory::shmem},
    {"mlocked", &Memory::mlocked},
    {"slabReclaimable", &Memory::slab_reclaimable},
    {"slabUnreclaimable", &Memory::slab_unreclaimable},
    {"kernelStack", &Memory::kernel_stack},
    {"pageTables", &Memory::page_tables},
    {"percpu", &Memory::percpu},
    {"driverHeld", &Memory::driver_held},
    {"swapTotal", &Memory::swap_total},
    {"swapUsed", &Memory::swap_used},
    {"hugePageSize", &Memory::huge_page_size},
    {"hugePagesTotal", &Memory::huge_pages_total},
    {"hugePagesFree", &Memory::huge_pages_free},
    {"cmaTotal", &Memory::cma_total},
    {"cmaFree", &Memory::cma_free},
    {"minFree", &Memory::min_free},
    {"watermarkScaleFactor", &Memory::watermark_scale_factor},
    {"watermarkBoostFactor", &Memory::watermark_boost_factor},
    {"swappiness", &Memory::swappiness},
    {"compactionProactiveness", &Memory::compaction_proactiveness},
};

constexpr Field<Attributes, int64_t> kAttributes[] = {
    {"integrated", &Attributes::integrated},
    {"managedMemory", &Attributes::managed_memory},
    {"concurrentManagedAccess", &Attributes::concurrent_managed_access},
    {"pageableMemoryAccess", &Attributes::pageable_memory_access},
    {"pageableMemoryAccessUsesHostPageTables", &Attributes::pageable_uses_host_page_tables},
    {"directManagedMemAccessFromHost", &Attributes::direct_managed_from_host},
    {"hostRegisterSupported", &Attributes::host_register},
    {"hostRegisterReadOnlySupported", &Attributes::host_register_read_only},
    {"canMapHostMemory", &Attributes::can_map_host_memory},
    {"unifiedAddressing", &Attributes::unified_addressing},
    {"memoryPoolsSupported", &Attributes::memory_pools},
    {"gpuDirectRdmaSupported", &Attributes::gpu_direct_rdma},
    {"dmaBufSupported", &Attributes::dma_buf},
    {"l2CacheSize", &Attributes::l2_cache_size},
    {"multiProcessorCount", &Attributes::multi_processor_count},
    {"globalMemoryBusWidth", &Attributes::memory_bus_width},
    {"memoryClockRateKHz", &Attributes::memory_clock_khz},
    {"clockRateKHz", &Attributes::clock_khz},
    {"asyncEngineCount", &Attributes::async_engine_count},
    {"hostNumaId", &Attributes::host_numa_id},
};

constexpr Field<NvmlAnswers, NvmlValue> kNvmlValues[] = {
    {"addressingMode", &NvmlAnswers::addressing_mode},
    {"migMode", &NvmlAnswers::mig_mode},
    {"utilizationPercent", &NvmlAnswers::utilization},
    {"temperatureC", &NvmlAnswers::temperature},
    {"powerMilliwatt", &NvmlAnswers::power},
    {"smClockMHz", &NvmlAnswers::sm_clock},
    {"maxSmClockMHz", &NvmlAnswers::max_sm_clock},
    {"memoryClockMHz", &NvmlAnswers::memory_clock},
    {"performanceState", &NvmlAnswers::performance_state},
};

constexpr Field<Timing, double> kTiming[] = {
    {"fixedUs", &Timing::fixed_us},
    {"coldMsPerGiB", &Timing::cold},
    {"warmMsPerGiB", &Timing::warm},
    {"freeMsPerGiB", &Timing::free},
    {"reclaimMsPerGiB", &Timing::reclaim},
    {"swapMsPerGiB", &Timing::swap},
    {"managedTouchMsPerGiB", &Timing::managed_touch},
    {"spillMsPerGiB", &Timing::spill},
    {"dropMsPerGiB", &Timing::drop},
    {"writebackMsPerGiB", &Timing::writeback},
    {"exitMsPerGiB", &Timing::exit},
    {"bandwidthGBps", &Timing::bandwidth_gbps},
    {"contextMs", &Timing::context_ms},
};

// Index of the word in `words`, or an error that lists them.
template <size_t N>
int choice(Description& in, const std::string& path, const char* const (&words)[N]) {
  const std::string value = in.word(path);
  std::string expected;
  for (size_t i = 0; i < N; i++) {
    if (value == words[i]) return static_cast<int>(i);
    expected += std::string(i == 0 ? "" : ", ") + words[i];
  }
  in.fail(path + " is \"" + value + "\", expected one of: " + expected);
  return 0;
}

// The status that a name stands for; 0 when it is none.
int nvml_status(const std::string& name) {
  if (name == "NOT_SUPPORTED") return umaprobe::kNvmlNotSupported;
  if (name == "NO_PERMISSION") return umaprobe::kNvmlNoPermission;
  if (name == "GPU_IS_LOST") return umaprobe::kNvmlGpuIsLost;
  if (name == "UNKNOWN") return umaprobe::kNvmlUnknown;
  return umaprobe::kNvmlSuccess;
}

void read_kernel(Description& in, Kernel& kernel) {
  in.text("kernel.release", kernel.release);
  in.text("kernel.architecture", kernel.architecture);
  in.text("kernel.lowZone", kernel.low_zone);
  in.text("kernel.transparentHugePages", kernel.transparent_huge_pages);
  in.bytes("kernel.pageSize", &kernel.page_size);
  in.bytes("kernel.orders", &kernel.orders);
  in.bytes("kernel.lowZoneBytes", &kernel.low_zone_bytes);
  if (kernel.orders > 16) in.fail("kernel.orders is more than 16");
  if (kernel.page_size < 4096) in.fail("kernel.pageSize is less than 4096");
}

void read_contiguity(Description& in, ContiguityRules& rules) {
  in.number("contiguity.share", &rules.share);
  in.number("contiguity.afterReclaim", &rules.after_reclaim);
  in.number("contiguity.compactable", &rules.compactable);
  in.number("contiguity.topOrderShare", &rules.top_order_share);
  in.bytes("contiguity.largestOrder", &rules.largest_order);
  in.number("contiguity.stallMs", &rules.stall_ms);
  rules.wedge_when_fragmented = choice(in, "contiguity.whenFragmented", {"error", "wedge"}) == 1;
}

void read_driver(Description& in, Driver& driver) {
  in.text("driver.version", driver.version);
  in.text("driver.nvmlVersion", driver.nvml_version);
  in.bytes("driver.cudaVersion", &driver.cuda_version);
  in.bytes("driver.runtimeVersion", &driver.runtime_version);
  in.bytes("driver.poolBytes", &driver.pool_bytes);
  in.number("driver.poolDrainAfterMs", &driver.pool_drain_after_ms);
  in.number("driver.poolDrainMsPerGiB", &driver.pool_drain_ms_per_gib);
  driver.system_memory_pools = kNoPools;
  const char* const parameter = "driver.systemMemoryPools";
  if (in.has(parameter)) in.integer(parameter, &driver.system_memory_pools);
}

void read_nvml(Description& in, const std::string& at, NvmlAnswers& nvml) {
  const std::string memory = in.word(at + "memory");
  nvml.memory = memory == "OWN"    ? NvmlMemory::kOwn
                : memory == "HOST" ? NvmlMemory::kHost
                                   : NvmlMemory::kRefused;
  nvml.memory_status = nvml_status(memory);
  if (nvml.memory == NvmlMemory::kRefused && nvml.memory_status == 0) {
    in.fail(at + "memory is \"" + memory + "\", expected OWN, HOST or the name of a refusal");
  }
  in.boolean(at + "processMemory", &nvml.process_memory);
  for (const auto& field : kNvmlValues) {
    NvmlValue& value = nvml.*field.member;
    value.status = nvml_status(in.word(at + field.key));
    if (value.status == 0) in.integer(at + field.key, &value.value);
  }
}

// A leaf that may be null, which the flat form leaves out.
uint64_t bytes_or(Description& in, const std::string& path, uint64_t fallback) {
  uint64_t value = fallback;
  if (in.has(path)) in.bytes(path, &value);
  return value;
}

void read_device(Description& in, const std::string& at, Device& device) {
  in.text(at + "name", device.name);
  in.text(at + "uuid", device.uuid);
  in.text(at + "pciBusId", device.pci_bus_id);
  in.text(at + "pciDeviceId", device.pci_device_id);
  in.text(at + "computeCapability", device.compute_capability);
  in.boolean(at + "sharesHostMemory", &device.shares_host_memory);
  in.boolean(at + "sysmemFallback", &device.sysmem_fallback);
  device.memory = bytes_or(in, at + "memory", 0);
  in.bytes(at + "reserved", &device.reserved);
  in.bytes(at + "contextBytes", &device.context_bytes);
  device.largest_allocation = bytes_or(in, at + "largestAllocation", kUnlimited);
  device.largest_total = bytes_or(in, at + "largestTotal", kUnlimited);
  if (device.shares_host_memory != (device.memory == 0)) {
    in.fail(at + "memory must be null if sharesHostMemory is true, and a number if it is false");
  }
  if (device.reserved > device.memory) in.fail(at + "reserved is more than memory");
  if (device.shares_host_memory && device.sysmem_fallback) {
    in.fail(at + "sysmemFallback makes no sense where sharesHostMemory is true");
  }
  for (const auto& field : kAttributes) {
    in.integer(at + "attributes." + field.key, &(device.attributes.*field.member));
  }
  read_nvml(in, at + "nvml.", device.nvml);
}

void read_processes(Description& in, Machine& machine) {
  for (int& i = machine.process_count; in.has("processes." + std::to_string(i)); i++) {
    if (i == kMaxScripted) return in.fail("processes has more than 32 entries");
    const std::string at = "processes." + std::to_string(i) + ".";
    Scripted& process = machine.processes[i];
    in.text(at + "name", process.name);
    in.integer(at + "pid", &process.pid);
    in.bytes(at + "gpuBytes", &process.gpu_bytes);
    in.bytes(at + "anonBytes", &process.anon_bytes);
    process.device = bytes_or(in, at + "device", 0);
    if (in.has(at + "list")) process.graphics = choice(in, at + "list", {"compute", "graphics"}) == 1;
    if (process.gpu_bytes > 0 && process.device >= static_cast<uint64_t>(machine.device_count)) {
      in.fail(at + "device is " + std::to_string(process.device) + ", there is no such device");
    }
  }
}

void read_event(Description& in, const std::string& at, const Machine& machine, Event& event) {
  static constexpr const char* kWords[] = {"anon",      "shmem", "device", "fileCache",
                                           "fileDirty", "free",  "exit"};
  event.what = static_cast<Happening>(choice(in, at + "what", kWords));
  in.number(at + "atMs", &event.at_ms);
  if (event.what != Happening::kExit) in.bytes(at + "bytes", &event.bytes);
  if (in.has(at + "overMs")) in.number(at + "overMs", &event.over_ms);
  if (in.has(at + "bytesPerSecond")) {
    double rate = 0;
    in.number(at + "bytesPerSecond", &rate);
    if (rate <= 0) return in.fail(at + "bytesPerSecond must be more than 0");
    event.over_ms = static_cast<double>(event.bytes) / rate * 1000;
  }
  event.process = -1;
  const bool needs_process = event.what == Happening::kDevice || event.what == Happening::kFree ||
                             event.what == Happening::kExit;
  if (!needs_process && !in.has(at + "process")) return;
  const std::string name = in.word(at + "process");
  for (int i = 0; i < machine.process_count; i++) {
    if (name == machine.processes[i].name) event.process = i;
  }
  if (event.process < 0) in.fail(at + "process is \"" + name + "\", which is not in processes");
}

void read_faults(Description& in, const char* kind, Fault (&faults)[kMaxFaults], int& count) {
  for (; in.has(std::string("faults.") + kind + "." + std::to_string(count)); count++) {
    const std::string at = std::string("faults.") + kind + "." + std::to_string(count) + ".";
    if (count == kMaxFaults) return in.fail(at + ": more than 16 faults of a kind");
    Fault& fault = faults[count];
    in.text(at + "call", fault.call);
    if (std::strcmp(kind, "hang") == 0) {
      in.number(at + "ms", &fault.hang_ms);
    } else {
      in.integer(at + "status", &fault.status);
    }
    fault.after = bytes_or(in, at + "after", 0);
    fault.times = bytes_or(in, at + "times", kUnlimited);
  }
}

void read_missing(Description& in, Machine& machine) {
  for (int& i = machine.missing_count;
       in.has("faults.missingSymbols." + std::to_string(i)); i++) {
    if (i == kMaxMissing) return in.fail("faults.missingSymbols has more than 16 entries");
    in.text("faults.missingSymbols." + std::to_string(i), machine.missing_symbols[i]);
  }
  for (int i = 0; in.has("faults.missingLibraries." + std::to_string(i)); i++) {
    const int library = choice(in, "faults.missingLibraries." + std::to_string(i),
                               {"cudart", "cuda", "nvml"});
    (library == 0   ? machine.lacks_cudart
     : library == 1 ? machine.lacks_cuda
                    : machine.lacks_nvml) = true;
  }
}

}  // namespace

std::string parse_machine(const char* description, Machine* machine) {
  Description in(description);
  const std::string format = in.word("schema");
  if (format != "umaprobe/machine/1") {
    in.fail("schema is \"" + format + "\", expected umaprobe/machine/1");
  }
  for (const char* key : {"description", "evidence", "extends"}) in.ignore(key);
  in.text("name", machine->name);
  in.number("clock.scale", &machine->scale);
  if (machine->scale <= 0) in.fail("clock.scale must be more than 0");
  read_kernel(in, machine->kernel);
  for (const auto& field : kMemory) {
    in.bytes(std::string("memory.") + field.key, &(machine->memory.*field.member));
  }
  read_contiguity(in, machine->contiguity);
  read_driver(in, machine->driver);
  for (int& i = machine->device_count; in.has("devices." + std::to_string(i)); i++) {
    if (i == kMaxDevices) return "devices has more than 8 entries";
    read_device(in, "devices." + std::to_string(i) + ".", machine->devices[i]);
  }
  for (const auto& field : kTiming) {
    in.number(std::string("timing.") + field.key, &(machine->timing.*field.member));
  }
  if (machine->timing.bandwidth_gbps <= 0) in.fail("timing.bandwidthGBps must be more than 0");
  machine->wedges = choice(in, "exhaustion.outcome", {"error", "wedge"}) == 1;
  in.number("exhaustion.wedgeAfterMs", &machine->wedge_after_ms);
  read_processes(in, *machine);
  for (int& i = machine->event_count; in.has("events." + std::to_string(i)); i++) {
    if (i == kMaxEvents) return "events has more than 64 entries";
    read_event(in, "events." + std::to_string(i) + ".", *machine, machine->events[i]);
  }
  read_faults(in, "hang", machine->hangs, machine->hang_count);
  read_faults(in, "fail", machine->fails, machine->fail_count);
  read_missing(in, *machine);
  return in.error();
}

}  // namespace umasim

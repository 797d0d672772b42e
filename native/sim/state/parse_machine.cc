#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

// A virtual machine of 2 processors took 620 to 3,900 ms with half of each pageblock in use
// (x86-64, Linux 6.18). This value is assumed for the faster processors of a GB10.
constexpr double kCompactMsPerGiB = 200;

void parse_linux_kernel(Description& in, LinuxKernel& linux_kernel) {
  in.text("kernel.release", linux_kernel.release);
  in.text("kernel.architecture", linux_kernel.architecture);
  in.choice("kernel.lowZone", {"DMA", "DMA32"});
  in.text("kernel.lowZone", linux_kernel.low_zone);
  in.text("kernel.transparentHugePages", linux_kernel.transparent_huge_pages);
  in.bytes("kernel.pageSize", &linux_kernel.page_size);
  in.bytes("kernel.orders", &linux_kernel.orders);
  in.bytes("kernel.lowZoneBytes", &linux_kernel.low_zone_bytes);
  if (linux_kernel.orders < 11 || linux_kernel.orders > 16) {
    in.fail("kernel.orders is " + std::to_string(linux_kernel.orders) + "; expected 11 to 16");
  }
  const uint64_t page = linux_kernel.page_size;
  if (page != 4096 && page != 16384 && page != 65536) {
    in.fail("kernel.pageSize is " + std::to_string(page) + "; expected 4096, 16384 or 65536");
  }
}

void check_memory(Description& in, const Memory& memory) {
  constexpr uint64_t kLeast = 64ull << 20;
  if (memory.total < kLeast) in.fail("memory.total is less than 64 MiB");
  if (memory.huge_page_size < 4096) return in.fail("memory.hugePageSize is less than 4096");
  // A product that does not fit into 64 bits would pass for a small one.
  if (memory.huge_pages_total > memory.total / memory.huge_page_size) {
    in.fail("memory.hugePagesTotal times memory.hugePageSize is more than memory.total");
  }
}

void parse_contiguity(Description& in, ContiguityRules& rules) {
  in.share("contiguity.share", &rules.share);
  in.share("contiguity.afterReclaim", &rules.after_reclaim);
  in.share("contiguity.compactable", &rules.compactable);
  in.share("contiguity.topOrderShare", &rules.top_order_share);
  in.bytes("contiguity.largestOrder", &rules.largest_order);
  if (rules.largest_order > 15) in.fail("contiguity.largestOrder is more than 15");
  in.number("contiguity.stallMs", &rules.stall_ms);
  rules.wedge_when_fragmented = in.choice("contiguity.whenFragmented", {"error", "wedge"}) == 1;
}

void parse_driver(Description& in, Driver& driver) {
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

}  // namespace

std::string parse_machine(const char* description, Machine* machine) {
  Description in(description);
  const std::string format = in.value("schema");
  if (format != "umaprobe/machine/1") {
    in.fail("schema is \"" + format + "\"; expected umaprobe/machine/1");
  }
  for (const char* key : {"description", "evidence", "extends"}) in.ignore(key);
  in.text("name", machine->name);
  in.number("clock.scale", &machine->scale);
  if (machine->scale <= 0) in.fail("clock.scale must be more than 0");
  parse_linux_kernel(in, machine->linux_kernel);
#define X(member, key) in.bytes("memory." #key, &machine->memory.member);
  UMASIM_MEMORY(X)
#undef X
  machine->memory.free_in_cpu_lists = in.bytes_or("memory.freeInCpuLists", 0);
  check_memory(in, machine->memory);
  parse_contiguity(in, machine->contiguity);
  parse_driver(in, machine->driver);
  parse_devices(in, *machine);
#define X(member, key) in.number("timing." #key, &machine->timing.member);
  UMASIM_TIMING(X)
#undef X
  machine->timing.compact = kCompactMsPerGiB;
  if (in.has("timing.compactMsPerGiB")) {
    in.number("timing.compactMsPerGiB", &machine->timing.compact);
  }
  if (machine->timing.bandwidth_gbps <= 0) in.fail("timing.bandwidthGBps must be more than 0");
  if (machine->timing.system_bandwidth_gbps <= 0) {
    in.fail("timing.systemBandwidthGBps must be more than 0");
  }
  machine->wedges = in.choice("exhaustion.outcome", {"error", "wedge"}) == 1;
  in.number("exhaustion.wedgeAfterMs", &machine->wedge_after_ms);
  parse_scenario(in, *machine);
  parse_faults(in, *machine);
  parse_files(in, *machine);
  return in.error();
}

}  // namespace umasim

// /proc/meminfo into numbers: one pass, no allocation.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/failure.h"
#include "host/host.h"

namespace umaprobe {

struct MeminfoRow {
  std::string_view key;  // as the kernel prints it, without the colon
  const char* field;     // as HostMemory in lib/types.ts has it
};

// The slots, in the order of HostMemory. Where the kernel's order differs that costs a few
// comparisons.
inline constexpr MeminfoRow kMeminfo[] = {
    {"MemTotal", "total"},
    {"MemFree", "free"},
    {"MemAvailable", "available"},
    {"Buffers", "buffers"},
    {"Cached", "cached"},
    {"SwapCached", "swapCached"},
    {"Shmem", "shmem"},
    {"AnonPages", "anonPages"},
    {"AnonHugePages", "anonHugePages"},
    {"Mapped", "mapped"},
    {"Mlocked", "mlocked"},
    {"Unevictable", "unevictable"},
    {"Dirty", "dirty"},
    {"Writeback", "writeback"},
    {"Active(file)", "activeFile"},
    {"Inactive(file)", "inactiveFile"},
    {"KReclaimable", "kReclaimable"},
    {"SReclaimable", "sReclaimable"},
    {"SUnreclaim", "sUnreclaim"},
    {"KernelStack", "kernelStack"},
    {"PageTables", "pageTables"},
    {"SecPageTables", "secPageTables"},
    {"Percpu", "percpu"},
    {"VmallocUsed", "vmallocUsed"},
    {"Committed_AS", "committedAs"},
    {"HardwareCorrupted", "hardwareCorrupted"},
    {"Zswap", "zswap"},
    {"SwapTotal", "swapTotal"},
    {"SwapFree", "swapFree"},
    {"HugePages_Total", "hugePagesTotal"},
    {"HugePages_Free", "hugePagesFree"},
    {"Hugepagesize", "hugePageSize"},
    {"Hugetlb", "hugetlb"},
    {"CmaTotal", "cmaTotal"},
    {"CmaFree", "cmaFree"},
};
inline constexpr size_t kMeminfoFields = std::size(kMeminfo);

// Fills `out` (kMeminfoFields numbers): bytes, or counts for the lines without "kB"; NaN where
// there is no such line.
void parse_meminfo(std::string_view text, double* out);

// The same from the kernel. A text without MemTotal is no meminfo.
std::optional<Failure> read_meminfo(Host& host, double* out);

}  // namespace umaprobe

// Parses /proc/meminfo into numbers in one pass, without allocation.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/failure.h"
#include "host/host.h"

namespace umaprobe {

struct MeminfoRow {
  std::string_view key;  // in /proc/meminfo, without the colon
  const char* field;     // in HostMemory of lib/types/host.ts
};

// In the order of HostMemory. It differs from the kernel's order, which costs a few comparisons.
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

// Fills `out` (kMeminfoFields numbers) with bytes, or counts for lines without "kB". NaN if there
// is no such line.
void parse_meminfo(std::string_view text, double* out);

// Reads and parses the host's /proc/meminfo. Fails if there is no MemTotal line.
std::optional<Failure> read_meminfo(Host& host, double* out);

}  // namespace umaprobe

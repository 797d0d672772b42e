// Parses /proc/meminfo into numbers in one pass, without allocation.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/failure.h"
#include "host/host.h"

namespace umaprobe {

// kPart: bytes that are inside MemTotal. kBytes: other bytes. kCount: a number without a unit.
enum class MeminfoKind { kPart, kBytes, kCount };

struct MeminfoRow {
  std::string_view key;  // name in /proc/meminfo, without the colon
  const char* field;     // name in HostMemory of lib/types/host.ts
  MeminfoKind kind;
};

// The rows have the order of HostMemory.
inline constexpr MeminfoRow kMeminfo[] = {
    {"MemTotal", "total", MeminfoKind::kBytes},
    {"MemFree", "free", MeminfoKind::kPart},
    {"MemAvailable", "available", MeminfoKind::kPart},
    {"Buffers", "buffers", MeminfoKind::kPart},
    {"Cached", "cached", MeminfoKind::kPart},
    {"SwapCached", "swapCached", MeminfoKind::kPart},
    {"Shmem", "shmem", MeminfoKind::kPart},
    {"AnonPages", "anonPages", MeminfoKind::kPart},
    {"AnonHugePages", "anonHugePages", MeminfoKind::kPart},
    {"Mapped", "mapped", MeminfoKind::kPart},
    {"Mlocked", "mlocked", MeminfoKind::kPart},
    {"Unevictable", "unevictable", MeminfoKind::kPart},
    {"Dirty", "dirty", MeminfoKind::kPart},
    {"Writeback", "writeback", MeminfoKind::kPart},
    {"Active(file)", "activeFile", MeminfoKind::kPart},
    {"Inactive(file)", "inactiveFile", MeminfoKind::kPart},
    {"KReclaimable", "kReclaimable", MeminfoKind::kPart},
    {"SReclaimable", "sReclaimable", MeminfoKind::kPart},
    {"SUnreclaim", "sUnreclaim", MeminfoKind::kPart},
    {"KernelStack", "kernelStack", MeminfoKind::kPart},
    {"PageTables", "pageTables", MeminfoKind::kPart},
    {"SecPageTables", "secPageTables", MeminfoKind::kPart},
    {"Percpu", "percpu", MeminfoKind::kPart},
    {"VmallocUsed", "vmallocUsed", MeminfoKind::kBytes},
    {"Committed_AS", "committedAs", MeminfoKind::kBytes},
    {"HardwareCorrupted", "hardwareCorrupted", MeminfoKind::kPart},
    {"Zswap", "zswap", MeminfoKind::kBytes},
    {"SwapTotal", "swapTotal", MeminfoKind::kBytes},
    {"SwapFree", "swapFree", MeminfoKind::kBytes},
    {"HugePages_Total", "hugePagesTotal", MeminfoKind::kCount},
    {"HugePages_Free", "hugePagesFree", MeminfoKind::kCount},
    {"Hugepagesize", "hugePageSize", MeminfoKind::kBytes},
    {"Hugetlb", "hugetlb", MeminfoKind::kPart},
    {"CmaTotal", "cmaTotal", MeminfoKind::kPart},
    {"CmaFree", "cmaFree", MeminfoKind::kPart},
};
inline constexpr size_t kMeminfoFields = std::size(kMeminfo);

// Returns the index of a field: meminfo_slot("free"). An unknown field has the index behind the
// last.
constexpr size_t meminfo_slot(std::string_view field) {
  size_t slot = 0;
  while (slot < kMeminfoFields && field != kMeminfo[slot].field) ++slot;
  return slot;
}

// Fills `out` (kMeminfoFields numbers) with bytes or counts. NaN if there is no such line, if it is
// not as the kernel writes it ("Name:  123 kB"), if there are two, or if a part of MemTotal is
// larger than MemTotal. lib/core/host/meminfo-lines.ts finds out which of these it is.
void parse_meminfo(std::string_view text, double* out);

// The failure of a text without a plausible MemTotal, whose numbers `out` has.
std::optional<Failure> check_total(std::string_view text, const double* out);

// Reads and parses the host's /proc/meminfo. Fails if there is no plausible MemTotal.
std::optional<Failure> read_meminfo(Host& host, double* out);
}  // namespace umaprobe

// Free memory by blocks and by processors: /proc/buddyinfo and /proc/zoneinfo.
#pragma once

#include <string_view>

#include "base/failure.h"
#include "host/host.h"

namespace umaprobe {

// The bytes of /proc/buddyinfo in blocks of 2 MiB and more; kUnknown if the text has no zone. A
// kernel may have more than the usual eleven columns.
double parse_free_blocks(std::string_view text, double page_size);

// The bytes that /proc/zoneinfo has in the lists of the processors: free pages that MemFree and
// MemAvailable leave out, up to an eighth of memory. kUnknown if the text names no list, or if one
// of them has no count.
double parse_cpu_lists(std::string_view text, double page_size);
// The same of the host now.
Fact<double> read_cpu_lists(Host& host);

}  // namespace umaprobe

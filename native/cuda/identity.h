// Reads the facts of a device that do not change: names, attributes, total memory. Creates no
// context.
#pragma once

#include "base/shared.h"
#include "cuda/connection.h"
#include "cuda/report.h"

namespace umaprobe {

// Adds the facts one by one to report.devices[ordinal]. Uses the driver if it is usable; the
// runtime knows only the attributes and the PCI id.
void read_identity(CallContext& context, const CudaConnection& cuda, int ordinal,
                   Shared<CudaReport>& report);

// Every fact is known, or known to be missing from this library, so reading again is pointless.
bool is_complete(const CudaIdentity& identity);

}  // namespace umaprobe

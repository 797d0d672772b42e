// What CUDA says about a device that does not change: names, attributes, total memory. No context
// is created.
#pragma once

#include "base/shared.h"
#include "cuda/connection.h"
#include "cuda/report.h"

namespace umaprobe {

// Publishes fact by fact into report.devices[ordinal]. Over the driver where it is usable; the
// runtime alone knows the attributes and the PCI id only.
void read_identity(CallContext& context, const CudaConnection& cuda, int ordinal,
                   Shared<CudaReport>& report);

// Whether asking again cannot say more: every fact is there, or is one that this library does not
// have.
bool complete(const CudaIdentity& identity);

}  // namespace umaprobe

#include "sim/gpu/address_map.h"

namespace umasim {

AllocationIterator find_allocation(Session& session, const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  AllocationIterator allocation = session.allocations.upper_bound(at);
  if (allocation == session.allocations.begin()) return session.allocations.end();
  --allocation;
  return at - allocation->first < allocation->second.size ? allocation : session.allocations.end();
}

AllocationIterator find_range(Session& session, const void* address, uint64_t bytes) {
  const auto allocation = find_allocation(session, address);
  if (allocation == session.allocations.end()) return allocation;
  const bool whole = bytes <= allocation->second.size - offset_in(allocation, address);
  return whole ? allocation : session.allocations.end();
}

bool device_reaches(const Machine& machine, int device, const Allocation& allocation) {
  const Attributes& attributes = machine.devices[device].attributes;
  switch (allocation.kind) {
    case BlockKind::kDevice:
      return allocation.device == device;  // peer access is not modelled
    case BlockKind::kManaged:
      return true;
    case BlockKind::kPinned:
    case BlockKind::kRegistered:
      return attributes.canMapHostMemory != 0;
    case BlockKind::kSystem:
      return attributes.pageableMemoryAccess != 0;
    default:
      return false;
  }
}

}  // namespace umasim

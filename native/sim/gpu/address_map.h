// Finds the allocation of an address in this process. Callers hold the session's lock.
#pragma once
#include "sim/gpu/session.h"

namespace umasim {

using AllocationIterator = std::map<uintptr_t, Allocation>::iterator;

// Returns end() for an address outside all allocations.
AllocationIterator find_allocation(Session& session, const void* address);
// Returns end() unless one allocation contains the whole range.
AllocationIterator find_range(Session& session, const void* address, uint64_t bytes);

inline uint64_t offset_in(AllocationIterator allocation, const void* address) {
  return reinterpret_cast<uintptr_t>(address) - allocation->first;
}

// Returns whether a kernel on the device can access the allocation.
bool device_reaches(const Machine& machine, int device, const Allocation& allocation);
// Returns whether the allocation gets its memory on first touch.
inline bool is_lazy(const Allocation& allocation) {
  return allocation.kind == BlockKind::kManaged || allocation.kind == BlockKind::kSystem;
}

}  // namespace umasim

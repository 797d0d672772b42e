// Which allocation of this process an address is in, and who may use it. Under the session's lock.
#pragma once
#include "sim/gpu/session.h"

namespace umasim {

using BlockAt = std::map<uintptr_t, LocalBlock>::iterator;

// end() when it is in none.
BlockAt find_block(Session& session, const void* address);
// The same for a range: end() unless all of it is in one.
BlockAt find_range(Session& session, const void* address, uint64_t bytes);

inline uint64_t offset_in(BlockAt block, const void* address) {
  return reinterpret_cast<uintptr_t>(address) - block->first;
}

// Whether a kernel on the device may use the block.
bool device_reaches(const Machine& machine, int device, const LocalBlock& block);
// Memory that is not there before it is touched.
inline bool is_lazy(const LocalBlock& block) {
  return block.kind == Kind::kManaged || block.kind == Kind::kSystem;
}

}  // namespace umasim

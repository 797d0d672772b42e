#include "sim/gpu/address_map.h"

namespace umasim {

BlockAt find_block(Session& session, const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  BlockAt block = session.blocks.upper_bound(at);
  if (block == session.blocks.begin()) return session.blocks.end();
  --block;
  return at - block->first < block->second.size ? block : session.blocks.end();
}

BlockAt find_range(Session& session, const void* address, uint64_t bytes) {
  const BlockAt block = find_block(session, address);
  if (block == session.blocks.end()) return block;
  const bool whole = bytes <= block->second.size - offset_in(block, address);
  return whole ? block : session.blocks.end();
}

bool device_reaches(const Machine& machine, int device, const LocalBlock& block) {
  const Attributes& attributes = machine.devices[device].attributes;
  switch (block.kind) {
    case Kind::kDevice:
      return block.device == device;  // peer access is not modelled
    case Kind::kManaged:
      return true;
    case Kind::kPinned:
    case Kind::kRegistered:
      return attributes.can_map_host_memory != 0;
    case Kind::kSystem:
      return attributes.pageable_memory_access != 0;
    default:
      return false;
  }
}

}  // namespace umasim

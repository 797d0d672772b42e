#include "host/held_memory.h"

#include <cerrno>

namespace umaprobe {

std::optional<Failure> HeldMemory::hold(Host& host, size_t bytes) {
  // A piece goes back as a whole; the excess is taken again.
  while (held_ > bytes) {
    const Piece newest = pieces_.back();
    pieces_.pop_back();
    held_ -= newest.bytes;
    host.unmap(newest.address, newest.bytes);
  }
  return held_ < bytes ? take(host, bytes - held_) : std::nullopt;
}

std::optional<Failure> HeldMemory::take(Host& host, size_t bytes) {
  void* const address = host.map(bytes);
  if (!address) return errno_failure("sim", "umasim_map", errno);
  const int status = host.touch(address, bytes);
  if (status != 0) {
    host.unmap(address, bytes);
    return errno_failure("sim", "umasim_touch", -status);
  }
  pieces_.push_back({address, bytes});
  held_ += bytes;
  return std::nullopt;
}

}  // namespace umaprobe

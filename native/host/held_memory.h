// Holds host memory of the simulated machine for this process: more of it, or less.
#pragma once

#include <cstddef>
#include <vector>

#include "host/host.h"

namespace umaprobe {

class HeldMemory {
 public:
  // Takes memory until `bytes` are held, or gives the newest pieces back. Waits while the machine
  // has no memory.
  std::optional<Failure> hold(Host& host, size_t bytes);

 private:
  struct Piece {
    void* address;
    size_t bytes;
  };

  std::optional<Failure> take(Host& host, size_t bytes);

  std::vector<Piece> pieces_;
  size_t held_ = 0;
};

}  // namespace umaprobe

#include "sim/linux/writeback.h"

#include <algorithm>

#include "sim/linux/locked.h"
#include "sim/state/clock.h"

namespace umasim {

int write_back(State& state) {
  constexpr uint64_t kPiece = 16ull << 20;
  SimulatedDelay delay(state);
  // The work is limited to the pages that were dirty at the start: sync() does not wait for later
  // writes.
  uint64_t left = kUnlimited;
  while (true) {
    uint64_t bytes = 0;
    bool wedged;
    {
      const Locked locked(state);
      World& world = state.world;
      wedged = world.wedge.happened;
      left = std::min(left, world.file_dirty);
      if (!wedged) bytes = std::min(left, kPiece);
      world.file_dirty -= bytes;
      left -= bytes;
    }
    if (wedged) block_forever(state);
    if (bytes == 0) break;
    delay.add(static_cast<double>(bytes) / kGiB * state.machine.timing.writeback);
  }
  delay.flush();
  return 0;
}

}  // namespace umasim

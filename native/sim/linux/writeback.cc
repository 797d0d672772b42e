#include "sim/linux/writeback.h"

#include <algorithm>

#include "sim/linux/locked.h"
#include "sim/state/clock.h"

namespace umasim {

int write_back(State& state) {
  constexpr uint64_t kPiece = 16ull << 20;
  Pace pace(state);
  // As much as was dirty when it began: others may write on, and sync() does not wait for that.
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
    pace.owe(static_cast<double>(bytes) / kGiB * state.machine.timing.writeback);
  }
  pace.settle();
  return 0;
}

}  // namespace umasim

// Access to a shared machine: the lock, and the wait of a wedged machine.
#pragma once
#include "sim/state/state.h"

namespace umasim {

// Holds the machine's lock. Taking it repairs the totals after the death of an owner, frees the
// memory of dead processes, advances the world to the present and applies control-file writes.
class Locked {
 public:
  explicit Locked(State& state);
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  // Returns false when this thread already holds the lock, as a signal handler during a call does.
  bool held() const { return held_; }

 private:
  State& state_;
  bool held_;
};

// Never returns, because the machine is wedged. It sleeps in short steps, so a kill works as it
// does on a real machine.
[[noreturn]] void block_forever(State& state);

}  // namespace umasim

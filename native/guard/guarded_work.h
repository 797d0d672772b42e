// The work that the guard watches: it takes memory, can be stopped, and can give its memory back.
#pragma once

#include <optional>

#include "base/clock.h"

namespace umaprobe {

// The guard's thread calls it, except resume(), which runs before that thread starts, and
// idle_since() and freed_at(), which run on any thread.
class GuardedWork {
 public:
  virtual ~GuardedWork() = default;

  // Undoes an earlier stop(). A guard calls it when it starts.
  virtual void resume() = 0;

  // Keeps the work from taking memory from now on. Returns at once; a call in progress may go on.
  virtual void stop() = 0;

  // Returns whether a call that takes memory is in progress.
  virtual bool busy() const = 0;

  // Returns when the last call in progress at stop() ended. Empty: not stopped, or a call is still
  // in progress.
  virtual std::optional<Clock::time_point> idle_since() const = 0;

  // Starts to free everything and returns at once. If nothing is held, it counts as freed at `now`.
  // May be called again after an attempt that ended without success.
  virtual void free_all(Clock::time_point now) = 0;

  // Returns whether an attempt of free_all() is in progress.
  virtual bool freeing() const = 0;

  // Returns when everything was freed. Empty: not yet.
  virtual std::optional<Clock::time_point> freed_at() const = 0;
};

}  // namespace umaprobe

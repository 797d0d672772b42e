// The load of a program: while its memory grows, room is made for it; once it has loaded, nothing
// more is done.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "run/supervisor/load_actions.h"
#include "run/supervisor/load_phase.h"
#include "run/supervisor/options.h"

namespace umaprobe {

class Load {
 public:
  // Receives an action that was done, or would have been, and its errno.
  using Tell = std::function<void(LoadAction, int error)>;

  Load(const SupervisorOptions& options, Host& host, Tell tell);

  // Returns once why the program has loaded; otherwise null.
  const char* tick(const Reading& reading, Clock::time_point now);
  // Ends the load: the program says so, or it ran already.
  void end() { is_over_ = true; }

 private:
  void make_room(const Reading& reading, Clock::time_point now);

  const Rules& rules_;
  const Tell tell_;
  LoadPhase phase_;
  const double free_bytes_;
  bool is_over_ = false;
  std::unique_ptr<LoadActions> actions_;  // null: no action is wanted or permitted
  bool drop_, compact_;                   // false once not permitted
  Clock::time_point next_drop_, next_compact_;
};

}  // namespace umaprobe

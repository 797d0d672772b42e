// Stops a target: SIGTERM, and after a grace SIGKILL until nothing is left.
#pragma once

#include <csignal>

#include "base/clock.h"
#include "run/supervisor/processes.h"
#include "run/supervisor/rules.h"
#include "run/supervisor/target.h"

namespace umaprobe {

class Stopper {
 public:
  Stopper(Processes& processes, const Rules& rules) : processes_(processes), rules_(rules) {}

  // Returns whether this stop goes further than the one before.
  bool advances(bool kill) const {
    return phase_ == Phase::kNone || (kill && phase_ == Phase::kTerminating);
  }
  // Returns 0, or the errno of the signals.
  int stop(const Target& target, bool kill, Clock::time_point now) {
    phase_ = kill ? Phase::kKilling : Phase::kTerminating;
    kill_at_ = now + seconds(rules_.grace_s);
    give_up_at_ = now + seconds(rules_.give_up_s);
    const int error = target.signal(processes_, kill ? SIGKILL : SIGTERM);
    // A stopped process acts on SIGTERM once it is continued.
    if (!kill) target.signal(processes_, SIGCONT);
    return error;
  }

  // Returns whether the grace is over.
  bool must_kill(Clock::time_point now) const {
    return phase_ == Phase::kTerminating && now >= kill_at_;
  }
  // Kills the processes that were forked meanwhile.
  void pursue(const Target& target, Clock::time_point now) {
    if (phase_ != Phase::kKilling || now < next_pursuit_) return;
    next_pursuit_ = now + seconds(rules_.look_s);
    target.signal(processes_, SIGKILL);
  }
  // A process in an uninterruptible call may outlive SIGKILL by minutes.
  bool gives_up(Clock::time_point now) const {
    return phase_ == Phase::kKilling && now >= give_up_at_;
  }
  bool active() const { return phase_ != Phase::kNone; }
  void reset() { phase_ = Phase::kNone; }

 private:
  enum class Phase { kNone, kTerminating, kKilling };

  Processes& processes_;
  const Rules& rules_;
  Phase phase_ = Phase::kNone;
  Clock::time_point kill_at_, give_up_at_, next_pursuit_;
};

}  // namespace umaprobe

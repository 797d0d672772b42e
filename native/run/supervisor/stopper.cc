#include "run/supervisor/stopper.h"

#include <csignal>

namespace umaprobe {

int Stopper::stop(const Target& target, bool kill, Clock::time_point now) {
  phase_ = kill ? Phase::kKilling : Phase::kTerminating;
  kill_at_ = now + seconds(rules_.grace_s);
  give_up_at_ = now + seconds(rules_.give_up_s);
  const int error = target.signal(processes_, kill ? SIGKILL : SIGTERM);
  // A stopped process acts on SIGTERM once it is continued.
  if (!kill) target.signal(processes_, SIGCONT);
  return error;
}

void Stopper::pursue(const Target& target, Clock::time_point now) {
  if (phase_ != Phase::kKilling || now < next_pursuit_) return;
  next_pursuit_ = now + seconds(rules_.look_s);
  target.signal(processes_, SIGKILL);
}

}  // namespace umaprobe

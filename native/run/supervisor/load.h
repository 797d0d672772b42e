// The load of a program: while its memory grows, room is made for it; once it has loaded, nothing
// more is done.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/monotonic_condition.h"
#include "host/host.h"
#include "run/supervisor/lines.h"
#include "run/supervisor/options.h"
#include "run/supervisor/reading.h"

namespace umaprobe {

// Tells whether the program loads. It loads while its memory grows, and has loaded once its memory
// has not grown for a while; but not before it holds its known minimum: compilers of kernels run
// for minutes between the weights and the cache. The page cache of the whole machine is dropped for
// a program only while it loads.
class LoadPhase {
 public:
  LoadPhase(const Rules& rules, const LoadOptions& load) : rules_(rules), load_(load) {}

  void add(const Reading& now) {
    if (!known(began_)) {
      began_ = now.t;
      available_ = now.available;
    }
    const Holdings& held = now.held;
    const double all = held.group + held.group_gpu;
    // The memory left on the machine tells if the program's memory is not known.
    const double taken = known(all) ? all : available_ - now.available;
    if (!known(highest_)) highest_ = taken;
    if (taken >= highest_ + load_.step_bytes) {
      highest_ = taken;
      grew_at_ = now.t;
    }
    now_ = now.t;
  }

  bool loading() const { return known(grew_at_) && !over_at_plateau(); }
  // Returns why the program has loaded; null: it has not, or not yet.
  const char* over() const {
    if (known(grew_at_) && over_at_plateau()) return because_word::kPlateau;
    return now_ - began_ >= rules_.load_limit_s ? because_word::kLimit : nullptr;
  }

 private:
  bool over_at_plateau() const {
    // A step that is smaller is not in highest_.
    const bool enough = highest_ + load_.step_bytes >= load_.least_bytes;
    return enough && now_ - grew_at_ >= rules_.load_plateau_s;
  }

  const Rules& rules_;
  const LoadOptions& load_;
  double began_ = kUnknown, now_ = kUnknown;
  double available_ = kUnknown;  // memory available at the start
  double highest_ = kUnknown, grew_at_ = kUnknown;
};

enum class LoadAction { kDrop, kCompact };

inline const char* word_of(LoadAction action) {
  return action == LoadAction::kDrop ? action_word::kDrop : action_word::kCompact;
}

// Drops clean page cache and compacts memory while a program loads, on a thread of its own, because
// the kernel may take seconds.
class LoadActions {
 public:
  // Starts the thread. Must live as long as the process.
  explicit LoadActions(Host& host);

  // Returns false while the last action has not ended.
  bool begin(LoadAction action);
  // Returns true once for each action that ended, with its errno, or 0.
  bool ended(LoadAction& action, int& error);

  void run();

 private:
  Host& host_;
  std::mutex mutex_;
  MonotonicCondition wake_;
  enum class State { kIdle, kWanted, kEnded } state_ = State::kIdle;
  LoadAction action_ = LoadAction::kDrop;
  int error_ = 0;
};

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

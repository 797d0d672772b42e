// Tells whether the program loads. It loads while its memory grows, and has loaded once its memory
// has not grown for a while; but not before it holds its known minimum: compilers of kernels run
// for minutes between the weights and the cache. The page cache of the whole machine is dropped for
// a program only while it loads.
#pragma once

#include "run/supervisor/lines.h"
#include "run/supervisor/options.h"
#include "run/supervisor/reading.h"

namespace umaprobe {

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

}  // namespace umaprobe

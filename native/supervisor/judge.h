// Decides from readings alone whether a program must be stopped. It knows no process and no clock,
// so that a recorded series is judged as the machine was.
//
// One kind of evidence is not enough, but for memory that is critical or falls to the floor within
// a second: of healthy machines PSI was 98 % for two minutes, MemFree 1.2 GiB, and MemAvailable
// rests at 4.9 GiB; in wedges MemAvailable rose to 46 GB.
#pragma once

#include "guard/protocol.h"
#include "supervisor/trail.h"

namespace umaprobe {

enum class Level { kNone, kWarn, kTerm, kKill };

// warn, term or kill.
inline const char* word_of(Level level) {
  return level == Level::kKill   ? action_word::kKill
         : level == Level::kTerm ? action_word::kTerm
                                 : action_word::kWarn;
}

struct Verdict {
  Level level = Level::kNone;
  const char* reason = nullptr;  // of reason_word
  double slope = kUnknown;       // bytes per second; negative: falls
  double seconds_to_floor = kUnknown;
};

class Judge {
 public:
  explicit Judge(const ProgramRules& rules);

  Verdict add(const Reading& now);

  // Whether the next readings should have the memory of the program, because the floor is near.
  bool wants_group() const { return wants_group_; }

 private:
  struct Fall {
    double slope = kUnknown;
    bool lasting = false;  // of more than noise, and still going on
    bool by_others = false;
  };
  Fall fall(const Reading& now) const;
  Level level_of(double left, double fall) const;
  bool fell_while_low(const Reading& now, bool& by_others) const;
  bool taken_by_others(const Reading& then, const Reading& now) const;
  bool others_took(const Reading& now, double fall) const;
  bool other_evidence(const Reading& now) const;
  Verdict judge_low(const Reading& now);

  const ProgramRules rules_;
  Trail<512> recent_;
  Trail<64> long_;
  double low_since_ = kUnknown;
  double evidence_since_ = kUnknown;
  double stalled_since_ = kUnknown;
  bool wants_group_ = false;
};

}  // namespace umaprobe

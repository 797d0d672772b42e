// Decides from readings alone whether a program must be stopped. It knows no process and no clock,
// so that a recorded series is judged as the machine was.
//
// One kind of evidence is not enough, except for critical memory and for memory that the program
// takes towards the floor: healthy machines had PSI at 98 % for two minutes, MemFree of 1.2 GiB,
// and MemAvailable at rest of 4.9 GiB; in wedges MemAvailable rose to 46 GB.
#pragma once

#include "run/supervisor/bursts.h"
#include "run/supervisor/lines.h"
#include "run/supervisor/rules.h"
#include "run/supervisor/trail.h"

namespace umaprobe {

enum class Level { kNone, kWarn, kTerm, kKill };

// Returns warn, term or kill.
inline const char* word_of(Level level) {
  return level == Level::kKill   ? action_word::kKill
         : level == Level::kTerm ? action_word::kTerm
                                 : action_word::kWarn;
}

struct Verdict {
  Level level = Level::kNone;
  const char* reason = nullptr;  // a reason_word
  double slope = kUnknown;       // bytes per second; negative: falls
  double seconds_to_floor = kUnknown;
  double others_grew = kUnknown;  // bytes that other processes took, if they took the memory
};

class Judge {
 public:
  explicit Judge(const Rules& rules);

  // Judges the next reading.
  Verdict add(const Reading& now);
  // Judges the last reading again, with the holdings measured since.
  Verdict again(const Holdings& held);

  // Returns whether the next readings should have the memory of the program, because the floor is
  // near.
  bool wants_group() const { return wants_group_; }

 private:
  struct Fall {
    double slope = kUnknown;
    double now = kUnknown;           // the slope of the shortest time
    const Reading* since = nullptr;  // start of a fall that is more than noise and still going on
  };
  Verdict judge();
  Fall fall() const;
  const Reading* before(double age) const;
  Level level_of(double fall) const;
  Level level_of_burst() const;
  bool is_critical(double fall) const;
  bool other_evidence() const;
  void take(Verdict& verdict, Level level, const Reading* since);
  void hold(const Holdings& held);
  bool is_of_others(const Reading* since, double& took) const;
  double most_given_back() const;
  double taken_by_others(const Reading& then) const;
  double taken_between_gpu_readings(double fall) const;
  void judge_low(Verdict& verdict);

  const Rules rules_;
  Reading now_;
  Trail<512> recent_;
  Trail<64> long_;
  Bursts bursts_;
  Reading above_;                     // the last reading that was far enough above the floor
  double most_accounted_ = kUnknown;  // the most that was left or some process's, since the start
  double most_left_ = kUnknown;       // the most that was left since the holdings were measured
  double low_since_ = kUnknown;
  double evidence_since_ = kUnknown;
  double stalled_since_ = kUnknown;
  bool wants_group_ = false;
};

}  // namespace umaprobe

#include "supervisor/judge.h"

namespace umaprobe {
namespace {

// Whether `holds` has been true for so many seconds; `start` is when it became so.
bool lasts(bool holds, double seconds, double now, double& start) {
  if (!holds) {
    start = kUnknown;
    return false;
  }
  if (!known(start)) start = now;
  return now - start >= seconds;
}

void raise(Verdict& verdict, Level level, const char* reason) {
  if (level > verdict.level) verdict = {level, reason};
}

}  // namespace

Judge::Judge(const ProgramRules& rules)
    : rules_(rules), recent_(rules.slope_half + rules.slope_half), long_(rules.low_for) {}

Verdict Judge::add(const Reading& now) {
  recent_.add(now);
  long_.add(now);
  const Fall fall = this->fall(now);
  const bool falls = fall.slope < 0;
  const double above = std::fmax(0, now.left() - rules_.floor);
  wants_group_ = above == 0 || !(above > -rules_.group_horizon * fall.slope);

  Verdict verdict = judge_low(now);
  if (now.left() < rules_.kill_below) raise(verdict, Level::kKill, reason_word::kBelowKill);
  if (lasts(now.pressure >= rules_.pressure_full, rules_.pressure_for, now.t, stalled_since_))
    raise(verdict, Level::kTerm, reason_word::kStalled);
  if (fall.lasting) {
    const Level level = level_of(now.left(), -fall.slope);
    const Level allowed = fall.by_others ? std::min(level, Level::kWarn) : level;
    raise(verdict, allowed, reason_word::kFloorNear);
  }
  verdict.slope = fall.slope;
  if (falls) verdict.seconds_to_floor = above / -fall.slope;
  return verdict;
}

// What a fall by so many bytes a second asks for. The next level is the floor, or below it the
// memory that is critical.
Level Judge::level_of(double left, double fall) const {
  const bool low = left < rules_.floor;
  const double distance = left - (low ? rules_.kill_below : rules_.floor);
  const double seconds = distance / fall;
  if (seconds < rules_.kill_horizon && (low || distance < rules_.kill_near)) return Level::kKill;
  if (seconds < rules_.horizon && (low || distance < rules_.near)) return Level::kTerm;
  return Level::kNone;
}

Judge::Fall Judge::fall(const Reading& now) const {
  Fall fall;
  double half = rules_.slope_half;
  while (half <= rules_.longest_slope_half) {
    const Reading* middle = recent_.before(now.t, half);
    const Reading* then = middle ? recent_.before(middle->t, half) : nullptr;
    if (!then) break;
    const double bytes = then->available - now.available;
    fall.slope = -bytes / (now.t - then->t);
    const double least = bytes * rules_.least_half;
    fall.lasting = bytes >= rules_.min_fall && then->available - middle->available >= least &&
                   middle->available - now.available >= least;
    fall.by_others = fall.lasting && taken_by_others(*then, now);
    if (fall.lasting) break;
    half += half;
  }
  return fall;
}

// False if it is not known: then the program may have taken it.
bool Judge::taken_by_others(const Reading& then, const Reading& now) const {
  const double seconds = now.t - then.t;
  const double fell = then.available - now.available;
  const bool gpu_is_current =
      now.group_gpu == 0 ||
      std::max(now.t - now.group_gpu_at, then.t - then.group_gpu_at) < seconds * rules_.gpu_age;
  if (!gpu_is_current) return others_took(now, fell / seconds);
  const double grown = now.group + now.group_gpu - then.group - then.group_gpu;
  return grown < (1 - rules_.others) * fell;
}

// Memory of the GPU is read twice a second, and a fall is seen in a tenth of one. So who took what
// is told from what fell between the last two of these readings, unless the fall is faster now.
bool Judge::others_took(const Reading& now, double fall) const {
  const Reading* last = recent_.earlier(now.group_gpu_at);
  const Reading* first = last ? recent_.earlier(last->group_gpu_at) : nullptr;
  if (!first || !(last->t > first->t)) return false;
  const double fell = first->available - last->available;
  const double grown = last->group + now.group_gpu - first->group - last->group_gpu;
  return fell >= rules_.min_fall && fall < rules_.faster * fell / (last->t - first->t) &&
         grown < (1 - rules_.others) * fell;
}

bool Judge::other_evidence(const Reading& now) const {
  if (now.pressure >= rules_.pressure_full) return true;
  if (!(now.pressure >= rules_.some_pressure)) return false;
  return now.free_blocks < rules_.min_blocks ||
         (now.swap_total > 0 && now.swap_free < now.swap_total * rules_.swap_used_up);
}

bool Judge::fell_while_low(const Reading& now, bool& by_others) const {
  const Reading* then = long_.before(now.t, rules_.low_for);
  if (!then || !(then->available - now.available >= rules_.min_fall)) return false;
  by_others = taken_by_others(*then, now);
  return true;
}

// Below the floor nothing more should be loaded; that alone is no danger.
Verdict Judge::judge_low(const Reading& now) {
  const bool low = now.left() < rules_.floor;
  const bool long_low = lasts(low, rules_.low_for, now.t, low_since_);
  const bool evident = lasts(low && other_evidence(now), rules_.low_for, now.t, evidence_since_);
  bool by_others = false;
  const bool falls = long_low && fell_while_low(now, by_others);
  if (evident || (falls && !by_others)) return {Level::kTerm, reason_word::kLowAndStalled};
  if (low) return {Level::kWarn, reason_word::kLowAndStalled};
  return {};
}

}  // namespace umaprobe

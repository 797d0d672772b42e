#include "supervisor/judge.h"

namespace umaprobe {
namespace {

// A fall is looked for over slope_for, and over two, four and eight times that.
constexpr int kWindows = 4;
// Each half of a lasting fall has this share of it: a single jump is over when it is seen.
constexpr double kLeastHalf = 0.25;
// Of a fall, the share that others must have taken.
constexpr double kOthers = 0.75;
// Too little free swap, as a share of all swap.
constexpr double kSwapUsedUp = 0.05;
// Full swap and missing blocks are normal at rest: they count while tasks wait for memory at all.
constexpr double kSomePressure = 0.1;  // of pressure_full

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

Judge::Judge(const Rules& rules)
    : rules_(rules), recent_(rules.slope_for / 40), long_(rules.low_for / 40) {}

Verdict Judge::add(const Reading& now) {
  recent_.add(now);
  long_.add(now);
  const Fall fall = this->fall(now);
  const bool falls = fall.slope < 0;
  const double above = std::max(0.0, now.available - rules_.floor);
  wants_group_ = above == 0 || !(above > -2 * rules_.horizon * fall.slope);

  Verdict verdict = judge_low(now);
  if (now.available < rules_.kill_below) raise(verdict, Level::kKill, "below-kill");
  if (lasts(now.pressure >= rules_.pressure_full, rules_.pressure_for, now.t, stalled_since_))
    raise(verdict, Level::kTerm, "stalled");
  if (fall.lasting) {
    const Level level = level_of(now.available, -fall.slope);
    const Level allowed = fall.by_others ? std::min(level, Level::kWarn) : level;
    raise(verdict, allowed, "floor-near");
  }
  verdict.slope = fall.slope;
  if (falls) verdict.seconds_to_floor = above / -fall.slope;
  return verdict;
}

// What a fall by so many bytes a second asks for. The next level is the floor, or below it the
// memory that is critical.
Level Judge::level_of(double available, double fall) const {
  const bool low = available < rules_.floor;
  const double distance = available - (low ? rules_.kill_below : rules_.floor);
  const double left = distance / fall;
  if (left < rules_.kill_horizon && (low || distance < rules_.near / 2)) return Level::kKill;
  if (left < rules_.horizon && (low || distance < rules_.near)) return Level::kTerm;
  return Level::kNone;
}

Judge::Fall Judge::fall(const Reading& now) const {
  Fall fall;
  double window = rules_.slope_for;
  for (int i = 0; i < kWindows; ++i, window *= 2) {
    const Reading* middle = recent_.before(now.t, window / 2);
    const Reading* then = middle ? recent_.before(middle->t, window / 2) : nullptr;
    if (!then) break;
    const double bytes = then->available - now.available;
    fall.slope = -bytes / (now.t - then->t);
    const double least = bytes * kLeastHalf;
    fall.lasting = bytes >= rules_.min_fall && then->available - middle->available >= least &&
                   middle->available - now.available >= least;
    fall.by_others = fall.lasting && taken_by_others(*then, now);
    if (fall.lasting) break;
  }
  return fall;
}

// False if it is not known: then the program may have taken it.
bool Judge::taken_by_others(const Reading& then, const Reading& now) const {
  const double seconds = now.t - then.t;
  const double fell = then.available - now.available;
  const bool gpu_is_current =
      now.group_gpu == 0 ||
      std::max(now.t - now.group_gpu_at, then.t - then.group_gpu_at) < seconds / 4;
  if (!gpu_is_current) return others_took(now, fell / seconds);
  const double grown = now.group + now.group_gpu - then.group - then.group_gpu;
  return grown < (1 - kOthers) * fell;
}

// Memory of the GPU is read twice a second, and a fall is seen in a tenth of one. So who took what
// is told from what fell between the last two of these readings, unless the fall is faster now.
bool Judge::others_took(const Reading& now, double fall) const {
  constexpr double kFaster = 2;
  constexpr double kEarlier = 1e-3;  // not the reading that has it already
  const Reading* last = recent_.before(now.group_gpu_at, kEarlier);
  const Reading* first = last ? recent_.before(last->group_gpu_at, kEarlier) : nullptr;
  if (!first || !(last->t > first->t)) return false;
  const double fell = first->available - last->available;
  const double grown = last->group + now.group_gpu - first->group - last->group_gpu;
  return fell >= rules_.min_fall && fall < kFaster * fell / (last->t - first->t) &&
         grown < (1 - kOthers) * fell;
}

bool Judge::other_evidence(const Reading& now) const {
  if (now.pressure >= rules_.pressure_full) return true;
  if (!(now.pressure >= rules_.pressure_full * kSomePressure)) return false;
  return now.free_blocks < rules_.min_blocks ||
         (now.swap_total > 0 && now.swap_free < now.swap_total * kSwapUsedUp);
}

bool Judge::fell_while_low(const Reading& now, bool& by_others) const {
  const Reading* then = long_.before(now.t, rules_.low_for);
  if (!then || !(then->available - now.available >= rules_.min_fall)) return false;
  by_others = taken_by_others(*then, now);
  return true;
}

// Below the floor nothing more should be loaded; that alone is no danger.
Verdict Judge::judge_low(const Reading& now) {
  const bool low = now.available < rules_.floor;
  const bool long_low = lasts(low, rules_.low_for, now.t, low_since_);
  const bool evident = lasts(low && other_evidence(now), rules_.low_for, now.t, evidence_since_);
  bool by_others = false;
  const bool falls = long_low && fell_while_low(now, by_others);
  if (evident || (falls && !by_others)) return {Level::kTerm, "low-and-stalled"};
  if (low) return {Level::kWarn, "low-and-stalled"};
  return {};
}

}  // namespace umaprobe

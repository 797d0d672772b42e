#include "run/supervisor/judge.h"

namespace umaprobe {
namespace {

// Returns whether `holds` has been true for this many seconds; `start` is when it became true.
bool lasts(bool holds, double seconds, double now, double& start) {
  if (!holds) {
    start = kUnknown;
    return false;
  }
  if (!known(start)) start = now;
  return now - start >= seconds;
}

void raise(Verdict& verdict, Level level, const char* reason) {
  if (level <= verdict.level) return;
  verdict.level = level;
  verdict.reason = reason;
}

// Returns the host memory that other processes are shown to have taken. The program is counted with
// the memory that its forks share, once for each: as they end, it gives back less than that.
double others_grew(const Holdings& then, const Holdings& now) {
  const double own = now.own - then.own;
  return now.all_least - then.all_most - (own < 0 ? 0 : own);
}

// Returns the memory of the host that is left or known to be somebody's; the rest is nobody's.
double accounted(const Holdings& held) { return held.left + held.all + held.others_gpu; }

bool uses_gpu(const Holdings& held) { return held.others_gpu > 0; }

}  // namespace

Judge::Judge(const Rules& rules)
    : rules_(rules),
      recent_(rules.slope_half_s + rules.slope_half_s),
      long_(rules.low_for_s),
      bursts_(rules_) {}

Verdict Judge::add(const Reading& now) {
  hold(now.held);
  now_ = now;
  most_left_ = std::fmax(most_left_, now.left());
  recent_.add(now);
  long_.add(now);
  bursts_.add(now.t, now.left());
  if (now.left() >= rules_.floor_bytes + rules_.crossing_bytes + rules_.min_fall_bytes)
    above_ = now;
  return judge();
}

Verdict Judge::again(const Holdings& held) {
  hold(held);
  now_.held = held;
  return judge();
}

void Judge::hold(const Holdings& held) {
  if (held.t == now_.held.t) return;
  most_accounted_ = std::fmax(most_accounted_, accounted(held));
  most_left_ = held.left;
}

Verdict Judge::judge() {
  Verdict verdict;
  const Fall fall = this->fall();
  const double above = std::fmax(0, now_.left() - rules_.floor_bytes);
  verdict.slope = fall.slope;
  if (fall.slope < 0) verdict.seconds_to_floor = above / -fall.slope;
  wants_group_ = above == 0 || !(above > -rules_.group_horizon_s * fall.slope);

  judge_low(verdict);
  if (now_.left() < rules_.kill_below_bytes)
    raise(verdict, is_critical(-fall.now) ? Level::kKill : Level::kTerm, reason_word::kBelowKill);
  if (lasts(now_.pressure >= rules_.pressure_full_percent, rules_.pressure_for_s, now_.t,
            stalled_since_))
    raise(verdict, Level::kTerm, reason_word::kStalled);
  if (fall.since) take(verdict, level_of(-fall.slope), fall.since);
  if (const Level level = level_of_burst(); level != Level::kNone)
    take(verdict, level, recent_.before(now_.t, bursts_.age()));
  // The speed of the fall does not matter here.
  if (now_.left() < rules_.floor_bytes + rules_.crossing_bytes && known(above_.available))
    take(verdict, Level::kTerm, &above_);
  return verdict;
}

// Blames the program for the memory that fell since then, unless others are shown to have taken it.
void Judge::take(Verdict& verdict, Level level, const Reading* since) {
  if (level <= verdict.level) return;
  if (is_of_others(since, verdict.others_grew)) level = std::min(level, Level::kWarn);
  raise(verdict, level, reason_word::kFloorNear);
}

// Returns the level for a fall of this many bytes a second. The limit ahead is the floor, or below
// the floor the critical memory. The program keeps its grace after SIGTERM.
Level Judge::level_of(double fall) const {
  const double left = now_.left();
  if (left < rules_.kill_below_bytes) return Level::kNone;
  const bool low = left < rules_.floor_bytes;
  const double distance = left - (low ? rules_.kill_below_bytes : rules_.floor_bytes);
  const double seconds = distance / fall;
  if (seconds < rules_.kill_horizon_s && (low || distance < rules_.kill_near_bytes))
    return Level::kKill;
  if (seconds < rules_.grace_s + rules_.horizon_s && (low || distance < rules_.near_bytes))
    return Level::kTerm;
  return Level::kNone;
}

Level Judge::level_of_burst() const {
  if (!(bursts_.expected() < rules_.floor_bytes)) return Level::kNone;
  const double seconds = (now_.left() - rules_.floor_bytes) / bursts_.speed();
  return seconds < rules_.kill_horizon_s ? Level::kKill : Level::kTerm;
}

// Returns whether the memory will be gone within the horizon.
bool Judge::is_critical(double fall) const { return now_.left() < fall * rules_.horizon_s; }

const Reading* Judge::before(double age) const {
  const Reading* then = recent_.before(now_.t, age);
  return then ? then : long_.before(now_.t, age);
}

Judge::Fall Judge::fall() const {
  Fall fall;
  double half = rules_.slope_half_s;
  while (half <= rules_.longest_slope_half_s) {
    const Reading* middle = before(half);
    const Reading* then = before(half + half);
    if (!then) break;
    const double bytes = then->left() - now_.left();
    fall.slope = -bytes / (now_.t - then->t);
    if (!known(fall.now)) fall.now = fall.slope;
    const double least = bytes * rules_.least_half_share;
    if (bytes >= rules_.min_fall_bytes && then->left() - middle->left() >= least &&
        middle->left() - now_.left() >= least) {
      fall.since = then;
      break;
    }
    half += half;
  }
  return fall;
}

// Returns whether the fall is not the program's. `took`: the bytes that others took, if known.
bool Judge::is_of_others(const Reading* since, double& took) const {
  const double others = since ? taken_by_others(*since) : kUnknown;
  if (known(others)) {
    took = others;
    return true;
  }
  const double fell = since ? since->left() - now_.left() : 0;
  const double most = most_given_back();
  if (!(most < rules_.given_back_share * std::fmax(fell, rules_.min_fall_bytes))) return false;
  if (fell > most) took = fell - most;
  return true;
}

// Returns the most that the end of the program can give back: its own memory, all that became
// nobody's since the start, and all that fell since the holdings were measured. kUnknown: its GPU
// memory is not known.
double Judge::most_given_back() const {
  const Holdings& held = now_.held;
  const double gone = most_accounted_ - accounted(held);
  if (!known(gone) || !known(held.group_gpu_of_host)) return kUnknown;
  const double of_nobody = std::max(gone, held.group_gpu_of_host);
  const double missed = held.all_most - held.all_least;  // a child may have come meanwhile
  return held.own + missed + of_nobody + std::fmax(most_left_ - now_.left(), 0);
}

// Returns the bytes that other processes are shown to have taken, if that is most of the fall;
// kUnknown: it is not, or not known. Memory that belongs to no process counts as the program's:
// tmpfs, pipes, memory of the kernel.
double Judge::taken_by_others(const Reading& then) const {
  const Holdings& held = now_.held;
  const double seconds = now_.t - then.t;
  const double fell = then.left() - now_.left();
  const double oldest = seconds * rules_.held_age_share;
  if (!(now_.t - held.t < oldest) || !(held.t > then.held.t)) return kUnknown;
  double grew = others_grew(then.held, held);
  if (uses_gpu(held) || uses_gpu(then.held)) {
    if (std::fmax(now_.t - held.gpu_at, then.t - then.held.gpu_at) < oldest) {
      grew += held.others_gpu - then.held.others_gpu;
    } else {
      return taken_between_gpu_readings(fell / seconds);
    }
  }
  const bool most = grew >= rules_.others_share * std::fmax(fell, then.held.left - held.left);
  return most ? grew : kUnknown;
}

// GPU memory is read twice a second, and a fall is seen in a tenth of a second. So the fall between
// the last two of these readings tells who took the memory, unless the fall is faster now.
double Judge::taken_between_gpu_readings(double fall) const {
  const Reading* last = recent_.earlier(now_.held.gpu_at);
  const Reading* first = last ? recent_.earlier(last->held.gpu_at) : nullptr;
  if (!first || !(last->t > first->t)) return kUnknown;
  const double fell = first->left() - last->left();
  const double grew =
      others_grew(first->held, last->held) + now_.held.others_gpu - last->held.others_gpu;
  const bool alike =
      fell >= rules_.min_fall_bytes && fall < rules_.faster_factor * fell / (last->t - first->t);
  return alike && grew >= rules_.others_share * fell ? grew : kUnknown;
}

bool Judge::other_evidence() const {
  if (now_.pressure >= rules_.pressure_full_percent) return true;
  if (!(now_.pressure >= rules_.some_pressure_percent)) return false;
  return now_.free_blocks < rules_.min_blocks_bytes ||
         (now_.swap_total > 0 && now_.swap_free < now_.swap_total * rules_.swap_used_up_share);
}

// Memory below the floor means that nothing more should be loaded; that alone is no danger.
void Judge::judge_low(Verdict& verdict) {
  const bool low = now_.left() < rules_.floor_bytes;
  const bool long_low = lasts(low, rules_.low_for_s, now_.t, low_since_);
  const bool evident = lasts(low && other_evidence(), rules_.low_for_s, now_.t, evidence_since_);
  if (low) raise(verdict, Level::kWarn, reason_word::kLowAndStalled);
  const Reading* then = long_low ? long_.before(now_.t, rules_.low_for_s) : nullptr;
  const bool falls = then && then->left() - now_.left() >= rules_.min_fall_bytes;
  double took = kUnknown;
  if (evident || (falls && !is_of_others(then, took)))
    raise(verdict, Level::kTerm, reason_word::kLowAndStalled);
}

}  // namespace umaprobe

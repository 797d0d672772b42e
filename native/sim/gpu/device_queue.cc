#include "sim/gpu/device_queue.h"

#include <algorithm>

#include "sim/linux/locked.h"

namespace umasim {
namespace {

// Callers hold the session's lock.
double end_of_queue(const Session& session, int device, double now_ms) {
  const double busy_until = session.busy_until_ms[device];
  return session.queued[device] ? busy_until : std::max(busy_until, now_ms);
}

}  // namespace

double ready_at(const Call& call, int device) {
  const std::lock_guard<std::mutex> guard(call.session().lock);
  return end_of_queue(call.session(), device, clock_ms(call.state()));
}

void enqueue(const Call& call, int device, double start_ms, double ms) {
  State& state = call.state();
  Session& session = call.session();
  const Locked locked(state);
  const std::lock_guard<std::mutex> guard(session.lock);
  const double done = end_of_queue(session, device, start_ms) + ms;
  session.busy_until_ms[device] = done;
  session.queued[device] = true;
  state.world.busy_until_ms[device] = std::max(state.world.busy_until_ms[device], done);
}

double enqueue_event(const Call& call, int device) {
  enqueue(call, device, ready_at(call, device), 0);
  return ready_at(call, device);
}

void synchronize(const Call& call, int device) {
  wait_until(call, ready_at(call, device));
  const std::lock_guard<std::mutex> guard(call.session().lock);
  call.session().queued[device] = false;
}

void wait_until(const Call& call, double ms) {
  sleep_ms(call.state(), ms - clock_ms(call.state()));
}

}  // namespace umasim

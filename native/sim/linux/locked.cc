#include "sim/linux/locked.h"

#include <cerrno>

#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/control_files.h"
#include "sim/linux/memory.h"
#include "sim/linux/world.h"
#include "sim/state/clock.h"

namespace umasim {

Locked::Locked(State& state) : state_(state), held_(true) {
  const int status = pthread_mutex_lock(&state.lock);
  if (status == EOWNERDEAD) {
    pthread_mutex_consistent(&state.lock);
    state.world.counters.owner_deaths++;
    recount(state);
  } else if (status != 0) {
    held_ = false;
    return;
  }
  reap_dead_clients(state);
  advance(state, clock_ms(state));
  apply_control_writes(state);
  World& world = state.world;
  uint64_t gpu = world.gpu_host;
  for (int i = 0; i < state.machine.device_count; i++) gpu += world.gpu_device[i];
  if (gpu > world.peak_gpu) world.peak_gpu = gpu;
  const uint64_t available = available_bytes(state);
  if (available < world.least_available) world.least_available = available;
}

Locked::~Locked() {
  if (held_) pthread_mutex_unlock(&state_.lock);
}

void block_forever(State& state) {
  {
    const Locked locked(state);
    state.world.counters.calls_blocked++;
  }
  while (true) sleep_ms(state, 50 * state.machine.scale);
}

}  // namespace umasim

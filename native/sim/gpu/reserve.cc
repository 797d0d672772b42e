#include "sim/gpu/reserve.h"

#include <algorithm>

#include "abi/cuda.h"
#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"
#include "sim/linux/reclaim.h"
#include "sim/linux/world.h"

namespace umasim {
namespace {

double gib(uint64_t bytes) { return static_cast<double>(bytes) / kGiB; }

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Size of a piece: 4 simulated ms of work or 2 real ms, whichever is more; 16 MiB to 4 GiB.
uint64_t piece_bytes(const State& state) {
  const double ms = std::max(4.0, 2 * state.machine.scale);
  const double bytes = ms / std::max(state.machine.timing.cold, 0.01) * kGiB;
  return rounded(static_cast<uint64_t>(std::clamp(bytes, 16.0 * (1 << 20), 4.0 * kGiB)),
                 kDriverBlock);
}

// The requester of memory, as the record of a wedge names it.
struct Requester {
  State* state;
  int pid;
  const char* name;  // the function's name
};

Requester requester_of(const Call& call) {
  return {&call.state(), call.session().pid, call.name()};
}

// Reserves host memory for a block in chunks, until all of it is reserved or none is left.
class HostReservation {
 public:
  HostReservation(const Requester& requester, SimulatedDelay& delay, int id, Use use,
                  double ms_per_gib)
      : requester_(requester),
        state_(*requester.state),
        delay_(delay),
        id_(id),
        use_(use),
        ms_per_gib_(ms_per_gib) {}

  int run(uint64_t bytes) {
    const uint64_t piece = piece_bytes(state_);
    for (uint64_t left = bytes; left > 0;) {
      Taken taken{0, 0};
      Shortage shortage = Shortage::kNone;
      {
        const Locked locked(state_);
        if (state_.world.wedge.happened) {
          shortage = Shortage::kWedged;
        } else {
          taken = take_pages(state_, std::min(left, piece), use_, ms_per_gib_);
          add_to_block(state_, id_, taken.bytes, 0);
          left -= taken.bytes;
          if (taken.bytes == 0) shortage = shortage_of(left);
        }
      }
      if (shortage == Shortage::kWedged) block_forever(state_);
      if (shortage == Shortage::kError) return umaprobe::kCudaOutOfMemory;
      if (shortage == Shortage::kWait) {
        sleep_ms(state_, std::max(20.0, state_.machine.scale));
        delay_.restart();
      }
      if (taken.bytes > 0) since_ms_ = -1;
      delay_.add(taken.ms);
      ms_ += taken.ms;
    }
    return umaprobe::kCudaSuccess;
  }
  double ms() const { return ms_; }

 private:
  enum class Shortage { kNone, kWait, kError, kWedged };

  Shortage shortage_of(uint64_t missing) {
    const ContiguityRules& rules = state_.machine.contiguity;
    const double now = state_.world.now_ms;
    if (since_ms_ < 0) since_ms_ = now;
    // Much memory is free but fragmented: the driver gives up after a while. A sixteenth of all
    // memory must be free, because some small blocks are always left when memory runs out.
    const uint64_t much = std::max(missing, state_.machine.memory.total / 16);
    const bool fragmented = use_ == Use::kEager && usable(state_, Use::kManaged) >= much;
    if (fragmented && !rules.wedge_when_fragmented) {
      if (now - since_ms_ >= rules.stall_ms) return Shortage::kError;
      stall(state_, requester_.pid, requester_.name, missing, now);
      return Shortage::kWait;
    }
    if (!state_.machine.wedges) return Shortage::kError;
    stall(state_, requester_.pid, requester_.name, missing, since_ms_);
    return Shortage::kWait;
  }

  const Requester requester_;
  State& state_;
  SimulatedDelay& delay_;
  const int id_;
  const Use use_;
  const double ms_per_gib_;
  double since_ms_ = -1;
  double ms_ = 0;
};

// The free dedicated memory of a device.
uint64_t device_free(const State& state, int device) {
  const Device& facts = state.machine.devices[device];
  return saturating_sub(facts.memory, facts.reserved + state.world.gpu_device[device]);
}

bool within_limits(const State& state, BlockKind kind, int device, uint64_t bytes) {
  if (kind == BlockKind::kRegistered || kind == BlockKind::kContext) return true;
  uint64_t others = 0;
  for (int id = 0; id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    const bool counts = block.kind == BlockKind::kDevice || block.kind == BlockKind::kManaged;
    if (counts && block.device == device) others += block.bytes;
  }
  const Device& limits = state.machine.devices[device];
  if (others == 0) return bytes <= limits.largest_allocation;
  return limits.largest_total == kUnlimited || others + bytes <= limits.largest_total;
}

// Reserves dedicated device memory and, if allowed, host memory for the rest.
int reserve_dedicated(const Call& call, SimulatedDelay& delay, int id, uint64_t bytes,
                      bool may_spill, double ms_per_gib, double* ms) {
  State& state = call.state();
  uint64_t dedicated;
  {
    const Locked locked(state);
    const int device = state.blocks[id].device;
    dedicated = std::min(device_free(state, device), bytes);
    if (dedicated < bytes && !may_spill) return umaprobe::kCudaOutOfMemory;
    add_to_block(state, id, 0, dedicated);
  }
  *ms = gib(dedicated) * ms_per_gib;
  delay.add(*ms);
  if (dedicated == bytes) return 0;
  HostReservation spilled(requester_of(call), delay, id, Use::kManaged, state.machine.timing.spill);
  const int status = spilled.run(bytes - dedicated);
  *ms += spilled.ms();
  return status;
}

int reserve_memory(const Call& call, SimulatedDelay& delay, BlockKind kind, const Device& device,
                   int id, uint64_t bytes) {
  const Timing& timing = call.state().machine.timing;
  if (kind == BlockKind::kManaged) return 0;
  if (kind == BlockKind::kRegistered) {
    return HostReservation(requester_of(call), delay, id, Use::kMovable, 0).run(bytes);
  }
  if (kind == BlockKind::kPinned || device.shares_host_memory) {
    return HostReservation(requester_of(call), delay, id, Use::kEager, timing.cold).run(bytes);
  }
  double ms;
  const bool may_spill = kind == BlockKind::kDevice && device.sysmem_fallback;
  return reserve_dedicated(call, delay, id, bytes, may_spill, timing.cold, &ms);
}

}  // namespace

int reserve(const Call& call, BlockKind kind, int device, uint64_t bytes, int* id) {
  State& state = call.state();
  SimulatedDelay delay(state);
  const Device& facts = state.machine.devices[device];
  const bool blocks = kind != BlockKind::kRegistered && kind != BlockKind::kContext;
  const uint64_t unit = blocks ? kDriverBlock : state.machine.linux_kernel.page_size;
  {
    const Locked locked(state);
    state.world.counters.allocations++;
    *id = within_limits(state, kind, device, bytes)
              ? new_block(state, client_of_this_process(state), kind, device, bytes)
              : -1;
    if (*id < 0) state.world.counters.allocations_failed++;
    if (*id >= 0 && kind != BlockKind::kContext && state.world.first_allocation_ms < 0) {
      state.world.first_allocation_ms = state.world.now_ms;
    }
  }
  if (*id < 0) return umaprobe::kCudaOutOfMemory;
  delay.add(state.machine.timing.fixed_us / 1000);
  const int status = reserve_memory(call, delay, kind, facts, *id, rounded(bytes, unit));
  if (status == 0) {
    const Locked locked(state);
    state.blocks[*id].complete = true;
  }
  delay.flush();
  if (status == 0) return 0;
  // An allocation that lacks a single block fails as a whole.
  const Locked locked(state);
  free_block(state, *id, Freeing::kByCall);
  state.world.counters.allocations_failed++;
  return status;
}

int reserve_touched(const Call& call, int id, uint64_t bytes, double* ms) {
  State& state = call.state();
  const Timing& timing = state.machine.timing;
  SimulatedDelay delay(state);
  BlockKind kind;
  int device, status;
  {
    const Locked locked(state);
    kind = state.blocks[id].kind;
    device = state.blocks[id].device;
  }
  const bool system = kind == BlockKind::kSystem;
  if (system || state.machine.devices[device].shares_host_memory) {
    HostReservation growth(requester_of(call), delay, id, system ? Use::kMovable : Use::kManaged,
                           system ? timing.system_touch : timing.managed_touch);
    status = growth.run(bytes);
    *ms = growth.ms();
  } else {
    status = reserve_dedicated(call, delay, id, bytes, true, timing.managed_touch, ms);
  }
  delay.flush();
  return status;
}

int reserve_written(State& state, int pid, int id, uint64_t bytes) {
  SimulatedDelay delay(state);
  HostReservation growth({&state, pid, "a write to memory"}, delay, id, Use::kMovable, 0);
  const int status = growth.run(bytes);
  delay.flush();
  return status;
}

void release(const Call& call, int id) {
  State& state = call.state();
  SimulatedDelay delay(state);
  uint64_t bytes;
  {
    const Locked locked(state);
    bytes = state.blocks[id].host_bytes + state.blocks[id].device_bytes;
    free_block(state, id, Freeing::kByCall);
  }
  delay.add(gib(bytes) * state.machine.timing.free);
  delay.flush();
}

}  // namespace umasim

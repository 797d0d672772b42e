#include "sim/gpu/reserve.h"

#include <algorithm>

#include "abi/cuda.h"
#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"
#include "sim/linux/reclaim.h"

namespace umasim {
namespace {

double gib(uint64_t bytes) { return static_cast<double>(bytes) / kGiB; }

uint64_t rounded(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// A piece takes some milliseconds of simulated time, and no less than a real one.
uint64_t piece_bytes(const State& state) {
  const double ms = std::max(4.0, 2 * state.machine.scale);
  const double bytes = ms / std::max(state.machine.timing.cold, 0.01) * kGiB;
  return rounded(static_cast<uint64_t>(std::clamp(bytes, 16.0 * (1 << 20), 4.0 * kGiB)), kBlock);
}

// Host memory for a block, piece by piece, until it is all there or there is no more to be had.
class Growth {
 public:
  Growth(const Call& call, Pace& pace, int id, Use use, double ms_per_gib)
      : call_(call),
        state_(call.state()),
        pace_(pace),
        id_(id),
        use_(use),
        ms_per_gib_(ms_per_gib) {}

  int run(uint64_t bytes) {
    const uint64_t piece = piece_bytes(state_);
    for (uint64_t left = bytes; left > 0;) {
      Taken taken{0, 0};
      Refusal refusal = Refusal::kNone;
      {
        const Locked locked(state_);
        if (state_.world.wedge.happened) {
          refusal = Refusal::kWedged;
        } else {
          taken = take(state_, std::min(left, piece), use_, ms_per_gib_);
          add_to_block(state_, id_, taken.bytes, 0);
          left -= taken.bytes;
          if (taken.bytes == 0) refusal = refused(left);
        }
      }
      if (refusal == Refusal::kWedged) block_forever(state_);
      if (refusal == Refusal::kError) return umaprobe::kCudaOutOfMemory;
      if (refusal == Refusal::kWait) {
        sleep_ms(state_, std::max(20.0, state_.machine.scale));
        pace_.restart();
      }
      if (taken.bytes > 0) since_ms_ = -1;
      pace_.owe(taken.ms);
      ms_ += taken.ms;
    }
    return umaprobe::kCudaSuccess;
  }
  double ms() const { return ms_; }

 private:
  enum class Refusal { kNone, kWait, kError, kWedged };

  Refusal refused(uint64_t missing) {
    const ContiguityRules& rules = state_.machine.contiguity;
    const double now = state_.world.now_ms;
    if (since_ms_ < 0) since_ms_ = now;
    // Plenty of memory, and not in blocks: the driver gives up after trying for a while. The little
    // that is always left in small blocks at the end of memory is not plenty.
    const uint64_t plenty = std::max(missing, state_.machine.memory.total / 16);
    const bool fragmented = use_ == Use::kEager && usable(state_, Use::kManaged) >= plenty;
    if (fragmented && !rules.wedge_when_fragmented) {
      if (now - since_ms_ >= rules.stall_ms) return Refusal::kError;
      stall(state_, call_.session().pid, call_.name(), missing, now);
      return Refusal::kWait;
    }
    if (!state_.machine.wedges) return Refusal::kError;
    stall(state_, call_.session().pid, call_.name(), missing, since_ms_);
    return Refusal::kWait;
  }

  const Call& call_;
  State& state_;
  Pace& pace_;
  const int id_;
  const Use use_;
  const double ms_per_gib_;
  double since_ms_ = -1;
  double ms_ = 0;
};

// What a device with memory of its own can still give.
uint64_t own_free(const State& state, int device) {
  const Device& own = state.machine.devices[device];
  return less(own.memory, own.reserved + state.world.gpu_device[device]);
}

bool within_limits(const State& state, Kind kind, int device, uint64_t bytes) {
  if (kind == Kind::kRegistered || kind == Kind::kContext) return true;
  uint64_t others = 0;
  for (int id = 0; id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    const bool counts = block.kind == Kind::kDevice || block.kind == Kind::kManaged;
    if (counts && block.device == device) others += block.bytes;
  }
  const Device& limits = state.machine.devices[device];
  if (others == 0) return bytes <= limits.largest_allocation;
  return limits.largest_total == kUnlimited || others + bytes <= limits.largest_total;
}

// Memory of the device's own, then, where that is allowed, of the host.
int fill_own(const Call& call, Pace& pace, int id, uint64_t bytes, bool may_spill,
             double ms_per_gib, double* ms) {
  State& state = call.state();
  uint64_t own;
  {
    const Locked locked(state);
    const int device = state.blocks[id].device;
    own = std::min(own_free(state, device), bytes);
    if (own < bytes && !may_spill) return umaprobe::kCudaOutOfMemory;
    add_to_block(state, id, 0, own);
  }
  *ms = gib(own) * ms_per_gib;
  pace.owe(*ms);
  if (own == bytes) return 0;
  Growth spilled(call, pace, id, Use::kManaged, state.machine.timing.spill);
  const int status = spilled.run(bytes - own);
  *ms += spilled.ms();
  return status;
}

int fill(const Call& call, Pace& pace, Kind kind, const Device& device, int id, uint64_t bytes) {
  const Timing& timing = call.state().machine.timing;
  if (kind == Kind::kManaged) return 0;
  if (kind == Kind::kRegistered) return Growth(call, pace, id, Use::kMovable, 0).run(bytes);
  if (kind == Kind::kPinned || device.shares_host_memory) {
    return Growth(call, pace, id, Use::kEager, timing.cold).run(bytes);
  }
  double ms;
  const bool may_spill = kind == Kind::kDevice && device.sysmem_fallback;
  return fill_own(call, pace, id, bytes, may_spill, timing.cold, &ms);
}

}  // namespace

int allocate(const Call& call, Kind kind, int device, uint64_t bytes, int* id) {
  State& state = call.state();
  Pace pace(state);
  const Device& facts = state.machine.devices[device];
  const bool blocks = kind != Kind::kRegistered && kind != Kind::kContext;
  const uint64_t unit = blocks ? kBlock : state.machine.kernel.page_size;
  {
    const Locked locked(state);
    state.world.counters.allocations++;
    *id = within_limits(state, kind, device, bytes)
              ? new_block(state, client_of_this_process(state), kind, device, bytes)
              : -1;
    if (*id < 0) state.world.counters.allocations_failed++;
    if (*id >= 0 && kind != Kind::kContext && state.world.first_allocation_ms < 0) {
      state.world.first_allocation_ms = state.world.now_ms;
    }
  }
  if (*id < 0) return umaprobe::kCudaOutOfMemory;
  pace.owe(state.machine.timing.fixed_us / 1000);
  const int status = fill(call, pace, kind, facts, *id, rounded(bytes, unit));
  if (status == 0) {
    const Locked locked(state);
    state.blocks[*id].whole = true;
  }
  pace.settle();
  if (status == 0) return 0;
  // One block that cannot be had undoes the whole allocation.
  const Locked locked(state);
  return_block(state, *id, Return::kNow);
  state.world.counters.allocations_failed++;
  return status;
}

int touch(const Call& call, int id, uint64_t bytes, double* ms) {
  State& state = call.state();
  const Timing& timing = state.machine.timing;
  Pace pace(state);
  Kind kind;
  int device, status;
  {
    const Locked locked(state);
    kind = state.blocks[id].kind;
    device = state.blocks[id].device;
  }
  const bool system = kind == Kind::kSystem;
  if (system || state.machine.devices[device].shares_host_memory) {
    Growth growth(call, pace, id, system ? Use::kMovable : Use::kManaged,
                  system ? timing.system_touch : timing.managed_touch);
    status = growth.run(bytes);
    *ms = growth.ms();
  } else {
    status = fill_own(call, pace, id, bytes, true, timing.managed_touch, ms);
  }
  pace.settle();
  return status;
}

void release(const Call& call, int id) {
  State& state = call.state();
  Pace pace(state);
  uint64_t bytes;
  {
    const Locked locked(state);
    bytes = state.blocks[id].host_bytes + state.blocks[id].device_bytes;
    return_block(state, id, Return::kNow);
  }
  pace.owe(gib(bytes) * state.machine.timing.free);
  pace.settle();
}

}  // namespace umasim

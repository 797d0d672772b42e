#include "sim/linux/block_table.h"

#include <algorithm>
#include <cstring>

#include "sim/linux/memory.h"

namespace umasim {
namespace {

// Returns whether the driver allocates this kind of memory itself: only that memory returns to its
// pools.
bool from_driver(BlockKind kind) {
  return kind == BlockKind::kDevice || kind == BlockKind::kContext || kind == BlockKind::kPinned;
}

struct Totals {
  uint64_t gpu_host, registered, system, gpu_device[kMaxDevices];
};

// The total that counts a kind of block. `Sums` is Totals or World.
template <typename Sums>
uint64_t& total_of(Sums& sums, BlockKind kind) {
  if (kind == BlockKind::kRegistered) return sums.registered;
  return kind == BlockKind::kSystem ? sums.system : sums.gpu_host;
}

Totals count(const State& state) {
  Totals totals{};
  for (int id = 0; id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    if (block.kind == BlockKind::kNone) continue;
    total_of(totals, block.kind) += block.host_bytes;
    totals.gpu_device[block.device] += block.device_bytes;
  }
  for (int i = 0; i < state.machine.process_count; i++) {
    const uint64_t device = state.machine.processes[i].device;
    const bool shares = state.machine.devices[device].shares_host_memory;
    (shares ? totals.gpu_host : totals.gpu_device[device]) += state.world.scripted_gpu[i];
  }
  return totals;
}

}  // namespace

int new_block(State& state, int client, BlockKind kind, int device, uint64_t bytes) {
  int id = 0;
  while (id < kMaxBlocks && state.blocks[id].kind != BlockKind::kNone) id++;
  if (id == kMaxBlocks || client < 0) return -1;
  Block& block = state.blocks[id];
  block = {BlockKind::kNone, static_cast<uint8_t>(device), client, bytes, 0, 0, false};
  state.block_limit = std::max(state.block_limit, id + 1);
  block.kind = kind;
  return id;
}

void add_to_block(State& state, int id, uint64_t host_bytes, uint64_t device_bytes) {
  Block& block = state.blocks[id];
  World& world = state.world;
  block.host_bytes += host_bytes;
  block.device_bytes += device_bytes;
  total_of(world, block.kind) += host_bytes;
  world.gpu_device[block.device] += device_bytes;
  settle_contiguity(state);
}

void free_block(State& state, int id, Freeing how) {
  Block& block = state.blocks[id];
  World& world = state.world;
  const BlockKind kind = block.kind;
  const uint64_t bytes = block.host_bytes;
  block.kind = BlockKind::kNone;
  world.gpu_device[block.device] -= block.device_bytes;
  if (kind == BlockKind::kSystem) return release_anon(state, &world.system, bytes);
  total_of(world, kind) -= bytes;
  // The freeing call hangs too on a wedged machine, so its memory never becomes free.
  const bool wedged = world.wedge.happened;
  if (!wedged && from_driver(kind) && state.machine.driver.system_memory_pools > 0) {
    world.pools += bytes;
    world.pools_used_ms = world.now_ms;
  } else if (wedged || (how == Freeing::kByExit && kind != BlockKind::kRegistered)) {
    world.returning += bytes;
  } else {
    add_free_memory(state, bytes,
                    kind == BlockKind::kRegistered ? state.machine.contiguity.after_reclaim : 1);
  }
}

void recount(State& state) {
  const Totals totals = count(state);
  state.world.gpu_host = totals.gpu_host;
  state.world.registered = totals.registered;
  state.world.system = totals.system;
  std::memcpy(state.world.gpu_device, totals.gpu_device, sizeof totals.gpu_device);
  settle_contiguity(state);
}

bool totals_agree(const State& state) {
  const Totals totals = count(state);
  return totals.gpu_host == state.world.gpu_host && totals.registered == state.world.registered &&
         totals.system == state.world.system &&
         std::memcmp(totals.gpu_device, state.world.gpu_device, sizeof totals.gpu_device) == 0;
}

}  // namespace umasim

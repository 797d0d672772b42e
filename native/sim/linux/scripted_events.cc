#include "sim/linux/scripted_events.h"

#include <algorithm>
#include <cmath>

#include "sim/linux/memory.h"
#include "sim/linux/reclaim.h"
#include "sim/linux/world.h"

namespace umasim {
namespace {

// Frees up to `bytes` of the GPU memory of a process. Returns the bytes freed.
uint64_t free_gpu_memory(State& state, int index, uint64_t bytes) {
  World& world = state.world;
  const ScriptedProcess& process = state.machine.processes[index];
  const bool shares = state.machine.devices[process.device].shares_host_memory;
  const uint64_t gpu = std::min(bytes, world.scripted_gpu[index]);
  world.scripted_gpu[index] -= gpu;
  if (!shares) {
    world.gpu_device[process.device] -= gpu;
  } else {
    world.gpu_host -= gpu;
    if (state.machine.driver.system_memory_pools > 0) {
      world.pools += gpu;
      world.pools_used_ms = world.now_ms;
    } else {
      add_free_memory(state, gpu, 1);
    }
  }
  return gpu;
}

void free_process_memory(State& state, int index, uint64_t bytes) {
  World& world = state.world;
  const uint64_t gpu = free_gpu_memory(state, index, bytes);
  release_anon(state, &world.scripted_anon[index],
               std::min(bytes - gpu, world.scripted_anon[index]));
}

void end_process(State& state, int index) {
  free_process_memory(state, index, kUnlimited);
  state.world.scripted_gone[index] = true;
}

// Drops the cache of a deleted file, written or not. Mapped pages stay as long as they are mapped.
void delete_file(State& state, uint64_t want) {
  World& world = state.world;
  const uint64_t clean = std::min(clean_file_cache(state), want);
  const uint64_t dirty = std::min(world.file_dirty, want - clean);
  world.file_cache -= clean + dirty;
  world.file_dirty -= dirty;
  add_free_pages(state, clean + dirty);
}

// Takes up to `want` bytes for the event and returns the bytes taken.
uint64_t grow(State& state, const ScriptedEvent& event, uint64_t want) {
  World& world = state.world;
  if (event.kind == EventKind::kDevice) {
    const int device = static_cast<int>(state.machine.processes[event.process].device);
    uint64_t bytes;
    if (state.machine.devices[device].shares_host_memory) {
      bytes = take_pages(state, want, Use::kEager, 0).bytes;
      world.gpu_host += bytes;
    } else {
      const Device& facts = state.machine.devices[device];
      bytes =
          std::min(want, saturating_sub(facts.memory, facts.reserved + world.gpu_device[device]));
      world.gpu_device[device] += bytes;
    }
    world.scripted_gpu[event.process] += bytes;
    return bytes;
  }
  // balance_dirty_pages() lets a writer wait until pages are written.
  if (event.kind == EventKind::kFileDirty) {
    want = std::min(want, saturating_sub(dirty_limit(state), world.file_dirty));
  }
  const uint64_t bytes = take_pages(state, want, Use::kMovable, 0).bytes;
  switch (event.kind) {
    case EventKind::kFileDirty:
      world.file_dirty += bytes;
      world.file_cache += bytes;
      break;
    case EventKind::kFileCache:
      world.file_cache += bytes;
      break;
    case EventKind::kSlab:
      world.slab_reclaimable += bytes;
      break;
    case EventKind::kSlabUnreclaimable:
      world.slab_unreclaimable += bytes;
      break;
    case EventKind::kShmem:
      world.shmem += bytes;
      break;
    default:
      (event.process < 0 ? world.anon : world.scripted_anon[event.process]) += bytes;
  }
  return bytes;
}

void stall_or_kill(State& state, const ScriptedEvent& event, uint64_t missing) {
  World& world = state.world;
  if (world.scripted_stall_ms < 0) world.scripted_stall_ms = world.now_ms;
  const int pid =
      event.process < 0 ? 0 : static_cast<int>(state.machine.processes[event.process].pid);
  stall(state, pid, "memory of another process", missing, world.scripted_stall_ms);
  // The OOM killer of a machine that does not wedge ends the requesting process.
  if (!state.machine.wedges && event.process >= 0 && event.kind == EventKind::kAnon) {
    world.counters.oom_kill++;
    end_process(state, event.process);
  }
}

// Returns the value of a curve `after_ms` after its event began, on the line between two points.
// The curve begins at 0 and stays at its last point. The later of two points of one time holds.
double value_of_curve(const State& state, const ScriptedEvent& event, double after_ms) {
  if (event.repeat_ms > 0) after_ms = std::fmod(after_ms, event.repeat_ms);
  CurvePoint before{0, 0};
  for (int i = 0; i < event.point_count; i++) {
    const CurvePoint& next = state.machine.points[event.point_begin + i];
    if (next.after_ms > after_ms) {
      const double share = (after_ms - before.after_ms) / (next.after_ms - before.after_ms);
      return before.value + (next.value - before.value) * share;
    }
    before = next;
  }
  return before.value;
}

// Gives back the memory that a curve took, as far as it still has it: reclaim may have been faster.
void shrink(State& state, const ScriptedEvent& event, uint64_t bytes) {
  World& world = state.world;
  const auto kernel = [&](uint64_t& holder, uint64_t most) {
    const uint64_t freed = std::min({bytes, holder, most});
    holder -= freed;
    add_free_memory(state, freed, state.machine.contiguity.after_reclaim);
  };
  switch (event.kind) {
    case EventKind::kDevice:
      free_gpu_memory(state, event.process, bytes);
      break;
    case EventKind::kFileCache:
      kernel(world.file_cache, clean_file_cache(state));
      break;
    case EventKind::kSlab:
      kernel(world.slab_reclaimable, kUnlimited);
      break;
    case EventKind::kSlabUnreclaimable:
      kernel(world.slab_unreclaimable, kUnlimited);
      break;
    case EventKind::kShmem:
      kernel(world.shmem, kUnlimited);
      break;
    default: {
      uint64_t& holder = event.process < 0 ? world.anon : world.scripted_anon[event.process];
      release_anon(state, &holder, std::min(bytes, holder));
    }
  }
}

// The bytes that an event wants the machine to hold by now.
uint64_t due_bytes(const State& state, const ScriptedEvent& event, double after_ms) {
  const uint64_t page = state.machine.linux_kernel.page_size;
  if (event.point_count > 0) {
    return static_cast<uint64_t>(value_of_curve(state, event, after_ms)) / page * page;
  }
  const double share = event.over_ms <= 0 ? 1 : std::min(1.0, after_ms / event.over_ms);
  const uint64_t due = static_cast<uint64_t>(static_cast<double>(event.bytes) * share);
  return share >= 1 ? due : due / page * page;
}

}  // namespace

bool run_event(State& state, int index) {
  World& world = state.world;
  const double now_ms = world.now_ms;
  const ScriptedEvent& event = state.machine.events[index];
  const double from = event.after_first_allocation ? world.first_allocation_ms : 0;
  if (from < 0 || now_ms < from + event.at_ms) return false;
  if (event.process >= 0 && world.scripted_gone[event.process]) return false;
  if (event.kind == EventKind::kLost) {
    state.lost_devices |= 1u << event.device;
    return false;
  }
  // A wedged machine neither frees nor grants memory.
  if (world.wedge.happened) return false;
  if (event.kind == EventKind::kPressure) return false;  // scripted_pressure() has its effect
  if (event.kind == EventKind::kExit || event.kind == EventKind::kOomKill) {
    if (event.kind == EventKind::kOomKill) world.counters.oom_kill++;
    end_process(state, event.process);
    return false;
  }
  const uint64_t due = due_bytes(state, event, now_ms - from - event.at_ms);
  uint64_t& done = world.event_done[index];
  if (due < done) {
    shrink(state, event, done - due);
    done = due;
  }
  const uint64_t want = saturating_sub(due, done);
  if (want == 0) return false;
  if (event.kind == EventKind::kFree || event.kind == EventKind::kFileDelete) {
    if (event.kind == EventKind::kFree) free_process_memory(state, event.process, want);
    if (event.kind == EventKind::kFileDelete) delete_file(state, want);
    done += want;
    return false;
  }
  const uint64_t bytes = grow(state, event, want);
  done += bytes;
  // A file reader that finds no memory waits; it does not wedge the machine.
  const bool cache = event.kind == EventKind::kFileCache || event.kind == EventKind::kFileDirty;
  if (bytes == want || cache) return false;
  stall_or_kill(state, event, want - bytes);
  return true;
}

double scripted_pressure(const State& state, double from_ms, double to_ms) {
  double share = 0;
  for (int i = 0; i < state.machine.event_count; i++) {
    const ScriptedEvent& event = state.machine.events[i];
    const double origin = event.after_first_allocation ? state.world.first_allocation_ms : 0;
    if (event.kind != EventKind::kPressure || origin < 0) continue;
    if (event.point_count > 0) {
      const double after_ms = (from_ms + to_ms) / 2 - origin - event.at_ms;
      if (after_ms > 0) {
        share = std::max(share, value_of_curve(state, event, after_ms) / 100);
      }
      continue;
    }
    const double begin = std::max(from_ms, origin + event.at_ms);
    const double end = std::min(to_ms, origin + event.at_ms + event.over_ms);
    if (end > begin) {
      share = std::max(share, (end - begin) / (to_ms - from_ms) * event.percent / 100);
    }
  }
  return share;
}

}  // namespace umasim

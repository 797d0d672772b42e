// The state file, which the processes of one simulated machine share under one robust mutex. It
// holds plain data only. MemFree is derived and never stored, so a process that is killed during an
// update cannot leave memory that is counted twice or not at all.
#pragma once
#include <pthread.h>

#include <atomic>
#include <string>

#include "sim/state/machine.h"

namespace umasim {

constexpr int kMaxClients = 256;
constexpr int kMaxBlocks = 8192;
constexpr int kMaxActions = 256;
constexpr int kMaxDeaths = 64;

enum class BlockKind : uint8_t {
  kNone,
  kContext,
  kDevice,
  kManaged,
  kPinned,
  kRegistered,
  kSystem
};
const char* kind_name(BlockKind kind);

// A process on the machine. pid 0 marks a free slot.
struct Client {
  int pid;
  uint64_t start_ticks;  // from /proc/<pid>/stat; tells a reused pid from the old process
};

// One allocation. Its memory grows while the allocating call runs. `kind` is written last on
// creation and first on removal, so a half-written block is never counted.
struct Block {
  BlockKind kind;
  uint8_t device;
  int client;
  uint64_t bytes;         // requested size
  uint64_t host_bytes;    // host memory held
  uint64_t device_bytes;  // dedicated device memory held
  bool complete;          // the allocating call has returned
};

// A Linux file that performs an action when written.
enum class ControlFile : int { kDropCaches, kCompact, kReclaim, kReclaimRoot };

// One write to a control file.
struct Action {
  double at_ms;
  int pid;  // 0: unknown
  ControlFile file;
  int level;  // drop_caches only
  uint64_t freed_bytes;
};

// The exit of a client.
struct Death {
  double at_ms;
  int pid;
  uint64_t bytes;
  bool cut_off;  // during an allocation
};

// The moment from which CUDA and NVML never answer again.
struct Wedge {
  bool happened;
  double at_ms;
  int pid;
  char during[64];
  uint64_t bytes;  // the request that could not be met
};

struct Counters {
  uint64_t compact_stall, compact_fail, compact_success, pgscan_direct, pgsteal_direct,
      pgscan_kswapd, pgsteal_kswapd, allocstall, oom_kill, pgmajfault, drop_pagecache, drop_slab;
  uint64_t contexts_created, allocations, allocations_failed, allocations_cut_off, calls_blocked,
      owner_deaths;
};

// One line of pressure stall information; the averages are in percent.
struct PsiLine {
  double avg10, avg60, avg300, total_us;
};

struct Psi {
  PsiLine some, full;
};

// The memory of the machine as it changes over time. Fields without a unit are bytes.
struct World {
  double now_ms;
  uint64_t anon, file_cache, file_mapped, file_dirty, buffers, shmem, slab_reclaimable,
      slab_unreclaimable;
  uint64_t swapped;  // anonymous memory swapped out since boot
  uint64_t pools;
  double pools_used_ms;
  uint64_t gpu_host;                 // host memory of GPU blocks and scripted GPU processes
  uint64_t registered;               // registered blocks: ordinary memory, pinned
  uint64_t system;                   // system blocks: ordinary memory
  uint64_t gpu_device[kMaxDevices];  // dedicated device memory in use
  uint64_t returning;                // memory of exited processes that is not yet free
  uint64_t free_in_blocks;           // part of MemFree in blocks of at least 2 MiB
  uint64_t unmovable;                // other free memory, in unmovable pageblocks: never merged
  uint64_t cpu_lists;                // free pages in lists of the processors: no part of MemFree
  uint64_t scripted_gpu[kMaxScripted], scripted_anon[kMaxScripted];
  bool scripted_gone[kMaxScripted];
  uint64_t event_done[kMaxEvents];
  double first_allocation_ms;  // -1: no allocation yet
  double reclaim_until_ms, reclaim_share, stall_until_ms, scripted_stall_ms,
      busy_until_ms[kMaxDevices];
  uint64_t peak_gpu, least_available;
  double peak_pressure;  // highest full avg10 before a wedge
  Psi psi;
  Counters counters;
  Wedge wedge;
};

struct State {
  char magic[8];
  uint32_t layout;
  pthread_mutex_t lock;
  int64_t boot_ns;
  char boot_id[37];
  char path[256];
  Machine machine;
  World world;
  Client clients[kMaxClients];
  Block blocks[kMaxBlocks];
  int block_limit;  // all blocks from this index on are unused
  uint64_t hang_calls[kMaxFaults], fail_calls[kMaxFaults], corrupt_fills[kMaxFaults];
  Action actions[kMaxActions];
  int action_count;
  Death deaths[kMaxDeaths];
  int death_count;
  std::atomic<unsigned> lost_devices;     // one bit per device
  std::atomic<int> opened_control_files;  // one bit per ControlFile: opened for writing
  uint64_t control_bytes_applied[2];      // bytes of each file of writes already applied
};

// Returns whether the device has fallen off the bus.
inline bool is_lost(const State& state, int device) {
  return (state.lost_devices >> device & 1) != 0;
}

// Sets the initial world of a new state. Returns an empty string, or why the machine is impossible.
using StartWorld = std::string (*)(State& state);

// Creates the state file of a machine. Returns 0, or -errno with the reason in `error`.
int create_state(const Machine& machine, const char* path, StartWorld start_world,
                 std::string* error);
// Maps an existing state file. Returns null and sets errno if it is absent or unusable.
State* map_state(const char* path);
void unmap_state(State* state);

}  // namespace umasim

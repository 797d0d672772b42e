// The state file: everything that the processes of one simulated machine share, under one robust
// mutex. Plain data only; MemFree is derived from it and never stored, so that a process killed in
// the middle of a change cannot leave memory that is counted twice or not at all.
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

enum class Kind : uint8_t { kNone, kContext, kDevice, kManaged, kPinned, kRegistered, kSystem };
const char* kind_name(Kind kind);

// A process that holds memory of the machine. pid 0: a free slot.
struct Client {
  int pid;
  uint64_t start_ticks;  // of /proc/<pid>/stat: a pid that is used again is another process
};

// One allocation. What it holds grows while the call that makes it runs; kind is written last when
// it is made and first when it goes.
struct Block {
  Kind kind;
  uint8_t device;
  int client;
  uint64_t bytes;         // as asked for
  uint64_t host_bytes;    // held of the host's memory
  uint64_t device_bytes;  // held of the device's own memory
  bool whole;             // the call that made it has ended
};

// A file of the kernel that is written to act.
enum class Control : int { kDropCaches, kCompact, kReclaim, kReclaimRoot };

struct Action {
  double at_ms;
  int pid;
  Control what;
  int level;  // of drop_caches
  uint64_t freed_bytes;
};

// The end of a process that held something.
struct Death {
  double at_ms;
  int pid;
  uint64_t bytes;
  bool cut_off;  // in the middle of an allocation
};

struct Wedge {
  bool happened;
  double at_ms;
  int pid;
  char during[64];
  uint64_t bytes;  // what could not be had
};

struct Counters {
  uint64_t compact_stall, compact_fail, compact_success, pgscan_direct, pgsteal_direct,
      pgscan_kswapd, pgsteal_kswapd, allocstall, oom_kill, pgmajfault, drop_pagecache, drop_slab;
  uint64_t contexts_created, allocations, allocations_failed, allocations_cut_off, calls_blocked,
      owner_deaths;
};

// Pressure stall information of one line: averages in percent, and the total.
struct PsiLine {
  double avg10, avg60, avg300, total_us;
};

struct Psi {
  PsiLine some, full;
};

struct World {
  double now_ms;
  uint64_t anon, file_cache, file_mapped, file_dirty, buffers, shmem, slab_reclaimable;
  uint64_t swapped;  // part of all anonymous memory that went to swap since boot
  uint64_t pools;
  double pools_used_ms;
  uint64_t gpu_host;                 // host memory of blocks and of scripted GPU processes
  uint64_t registered;               // of registered blocks: ordinary memory, merely pinned
  uint64_t system;                   // of system blocks: ordinary memory
  uint64_t gpu_device[kMaxDevices];  // the same of devices with memory of their own
  uint64_t returning;                // of processes that ended, on its way back to free memory
  uint64_t big_free;                 // part of MemFree in blocks of 2 MiB and more
  uint64_t stuck;                    // part of the rest that compaction could not merge
  uint64_t scripted_gpu[kMaxScripted], scripted_anon[kMaxScripted];
  bool scripted_gone[kMaxScripted];
  uint64_t event_done[kMaxEvents];
  double first_allocation_ms;  // -1: nobody has allocated anything yet
  double reclaim_until_ms, reclaim_share, stall_until_ms, scripted_stall_ms,
      busy_until_ms[kMaxDevices];
  uint64_t peak_gpu, least_available;
  double peak_pressure;  // full avg10, before the wedge if there is one
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
  int block_limit;  // no block is used from here on
  uint64_t hang_calls[kMaxFaults], fail_calls[kMaxFaults], corrupt_fills[kMaxFaults];
  Action actions[kMaxActions];
  int action_count;
  Death deaths[kMaxDeaths];
  int death_count;
  std::atomic<int> mailboxes;  // control files that somebody opened for writing
  uint64_t mailbox_read[2];
};

// Sets the initial world of a new state. Returns an empty string, or why the machine is impossible.
using StartWorld = std::string (*)(State& state);

// Creates the state file of a machine. Returns 0, or -errno with the reason in `error`.
int create_state(const Machine& machine, const char* path, StartWorld start_world,
                 std::string* error);
// Maps an existing one; null with errno when there is none or it is not usable.
State* map_state(const char* path);
void unmap_state(State* state);

}  // namespace umasim

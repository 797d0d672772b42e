// This process on a simulated machine: its machine, and its own allocations, contexts and queues.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim/gpu/pattern_fills.h"
#include "sim/gpu/visible_devices.h"
#include "sim/state/state.h"

namespace umasim {

// An allocation of this process; `id` is its block in the state.
struct Allocation {
  uint64_t size;
  BlockKind kind;
  int device, id;
  std::map<uint64_t, uint64_t> touched;  // managed, system: offsets with memory, begin → end
  Fills fills;                           // parts that hold the pattern of the fill kernel
};

// A CUDA context. The runtime and all holders of cuDevicePrimaryCtxRetain share the primary one.
struct Context {
  int device, block;
  bool primary;
  int retained;
};

struct Module;

struct Session {
  State* state;
  int pid;
  std::string path;
  std::mutex lock;  // guards the members below that are not atomic
  std::map<uintptr_t, Allocation> allocations;
  std::vector<Context*> contexts;
  Context* primary[kMaxDevices] = {};
  double busy_until_ms[kMaxDevices] = {};  // end of the queued work
  bool queued[kMaxDevices] = {};           // work was queued since the last synchronization
  // The error of a faulty kernel. The primary context answers every call with it until its end.
  std::atomic<int> faulted[kMaxDevices] = {};
  std::vector<Module*> modules;  // all modules ever loaded; never deleted
  std::atomic<int> nvml_users{0};
  VisibleDevices visible{};  // set before cuda_ready, and not changed after
  std::atomic<bool> cuda_ready{false};
};

// The session of this process, or null without a machine. A forked child gets its own.
Session* session();
// The same, but reads UMAPROBE_SIM again unless the process is attached to a machine.
Session* refresh_session();
// Attaches the process for its lifetime. Returns 0 or -errno; -EBUSY if it is attached to another
// machine.
int attach_session(const char* path);
// The reason for a null session: ENXIO without a machine, or why its file is unusable.
int no_session_errno();

}  // namespace umasim

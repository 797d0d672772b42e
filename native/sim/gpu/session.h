// This process on a simulated machine: the machine it is attached to, and what belongs to the
// process alone (its allocations' addresses, contexts, and work in progress).
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sim/gpu/pattern_fills.h"
#include "sim/state/state.h"

namespace umasim {

// An allocation as its process knows it.
struct LocalBlock {
  uint64_t size;
  Kind kind;
  int device, id;
  std::map<uint64_t, uint64_t> touched;  // managed, system: ranges that have memory, begin → end
  Fills fills;                           // what the fill kernel wrote and nobody has written since
};

// A CUDA context. The primary one of a device is shared by the runtime and whoever retains it.
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
  std::mutex lock;  // guards what follows
  std::map<uintptr_t, LocalBlock> blocks;
  std::vector<Context*> contexts;
  Context* primary[kMaxDevices] = {};
  double busy_until_ms[kMaxDevices] = {};  // when the work that was begun is done
  bool queued[kMaxDevices] = {};           // nobody has waited for it yet
  // What a kernel did wrong; the primary context answers nothing else until it is destroyed.
  std::atomic<int> faulted[kMaxDevices] = {};
  std::vector<Module*> modules;  // those loaded; never deleted, as contexts are
  std::atomic<int> nvml_users{0};
  std::atomic<bool> cuda_ready{false};
};

// The session of this process; null when it is on no machine. A forked child gets its own.
Session* session();
// The same, after looking again: at the machine that the process was attached to, else
// UMAPROBE_SIM.
Session* fresh_session();
// Attaches the process for its life. 0 or -errno; -EBUSY when it is attached to another.
int attach_session(const char* path);
// Why there is none: ENXIO, or the reason that the file is unusable.
int no_session_errno();

}  // namespace umasim

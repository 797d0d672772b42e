// GPU memory of processes, from NVML. Its calls may block for minutes in a wedge, so they run on a
// thread of their own, and the guard uses its last reading.
#pragma once

#include <array>
#include <mutex>

#include "base/clock.h"
#include "base/monotonic_condition.h"
#include "base/unknown.h"
#include "host/host.h"
#include "machine/machine_config.h"
#include "nvml/nvml.h"
#include "run/supervisor/processes.h"

namespace umaprobe {

// A field is kUnknown until NVML has answered, if NVML does not tell, and in a container, where
// NVML lists none of these processes whatever they have.
struct GpuUse {
  double own = kUnknown;  // memory of the processes asked for, on all devices
  // On the devices that share the host's memory: memory of these processes, and of all others.
  double own_of_host = kUnknown, others = kUnknown;
  Clock::time_point read_at;
};

class GpuMemory {
 public:
  // `interval`: seconds between two readings.
  GpuMemory(const MachineConfig& config, Host& host, double interval);

  // Starts the thread, which waits. Must live as long as the process.
  void start();
  // NVML is loaded after the program was forked: it may have locks that a fork waits for.
  void begin();

  // All 0, now: this machine has no driver of NVIDIA.
  GpuUse use(const Processes& processes, Clock::time_point now);

  void run();

 private:
  struct Use {
    unsigned int pid;
    double bytes;  // kUnknown: the driver does not tell
    bool of_host;  // the GPU shares the host's memory
  };
  static constexpr size_t kMost = 1024;
  using Uses = std::array<Use, kMost>;

  // Returns how many entries of `uses` were filled; empty if NVML failed.
  std::optional<size_t> read(const Nvml& nvml, Uses& uses);

  const MachineConfig& config_;
  Host& host_;
  const double interval_;
  const bool has_pids_of_nvml_;
  std::mutex mutex_;
  MonotonicCondition wake_;
  bool begun_ = false;
  enum class State { kWaiting, kAbsent, kRead } state_ = State::kWaiting;
  Uses uses_{};
  size_t count_ = 0;
  Clock::time_point read_at_;
  Uses next_{};  // only the thread uses it
};

}  // namespace umaprobe

// The state of one Node environment: the main thread's, or a Node worker's.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include "alloc/allocator.h"
#include "cuda/reader.h"
#include "guard/guard.h"
#include "host/held_memory.h"
#include "host/host.h"
#include "js/process_env.h"
#include "js/promises.h"
#include "machine/process_machine.h"
#include "nvml/reader.h"
#include "pagecache/walk.h"
#include "run/record/recorder.h"
#include "runtime/call_threads.h"

namespace umaprobe {

// Everything that needs worker threads. The first such call creates it.
struct Jobs {
  explicit Jobs(napi_env env) : promises(env) {
    // A Node worker's memory is freed on the CUDA thread once the call in progress has returned.
    // The main thread's is freed when the process exits.
    if (!is_main_thread()) workers->on_exit(WorkerId::kCuda, [held = allocator] { held->close(); });
  }
  ~Jobs() { close(); }

  void close() {
    workers->close();
    files->close();
  }

  static bool is_main_thread() { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

  PendingPromises promises;
  std::shared_ptr<WorkerThreads> workers = std::make_shared<WorkerThreads>();
  // Readings of kernel files, which go on where one of them hangs.
  std::shared_ptr<CallThreads> files = std::make_shared<CallThreads>();
  std::shared_ptr<CudaReader> cuda = std::make_shared<CudaReader>();
  std::shared_ptr<NvmlReader> nvml = std::make_shared<NvmlReader>();
  std::shared_ptr<Allocator> allocator = std::make_shared<Allocator>();
};

class Environment {
 public:
  explicit Environment(napi_env env) : env_(env) {}
  ~Environment() {
    if (guard) guard->stop();
    if (recorder) recorder->stop();
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // process.env as of the first call. Later changes have no effect: host and libraries belong to
  // one machine for the life of the environment.
  std::shared_ptr<const MachineConfig> config() {
    if (!config_) {
      Fact<MachineConfig> found = config_from_process_env(env_);
      MachineConfig config;
      if (Failure* failure = std::get_if<Failure>(&found)) {
        config.error = std::move(*failure);
      } else {
        config = std::move(std::get<MachineConfig>(found));
      }
      if (!config.error) config.error = enter_machine(config);
      config_ = std::make_shared<const MachineConfig>(std::move(config));
    }
    return config_;
  }

  // Uses `config` instead of process.env, unless a machine is in use already.
  std::optional<Failure> enter(MachineConfig config) {
    if (auto failure = enter_machine(config)) return failure;
    if (!config_ || config_->error) {
      config_ = std::make_shared<const MachineConfig>(std::move(config));
      host_.reset();
      shared_host_.reset();
    }
    return std::nullopt;
  }

  // The host of the JavaScript thread.
  Host& host() {
    if (!host_) host_ = open_host(*config());
    return *host_;
  }

  // The host of the threads of `Jobs::files`, of which no two read the same file at the same time.
  std::shared_ptr<Host> shared_host() {
    if (!shared_host_) shared_host_ = open_host(*config());
    return shared_host_;
  }

  // The failure of a reading that hangs on one of those threads: "read /proc/meminfo".
  std::optional<Failure> hung_file(std::string_view call) const {
    return jobs_ ? jobs_->files->hung(call) : std::nullopt;
  }

  Jobs& jobs() {
    if (jobs_) return *jobs_;
    jobs_ = std::make_unique<Jobs>(env_);
    // Hooks run in reverse order: this one runs before Node deletes the threadsafe function, and
    // long before this object is destroyed.
    napi_add_env_cleanup_hook(
        env_, [](void* jobs) { static_cast<Jobs*>(jobs)->close(); }, jobs_.get());
    return *jobs_;
  }

  // Walks in progress, by id.
  std::unordered_map<uint32_t, std::shared_ptr<Walk>> walks;
  uint32_t last_walk = 0;

  // CUDA on the JavaScript thread, for memGetInfoSync.
  CudaConnection cuda;
  CallContext context{/*watched=*/false};

  HeldMemory held;  // simHold's memory

  std::shared_ptr<Guard> guard;        // the most recent one
  std::shared_ptr<Recorder> recorder;  // the most recent one

 private:
  napi_env env_;
  std::shared_ptr<const MachineConfig> config_;
  std::unique_ptr<Host> host_;
  std::shared_ptr<Host> shared_host_;
  std::unique_ptr<Jobs> jobs_;
};

}  // namespace umaprobe

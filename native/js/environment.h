// The state of one environment: the main thread's, or a worker's.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include "alloc/allocator.h"
#include "cuda/reader.h"
#include "guard/guard.h"
#include "host/host.h"
#include "js/process_env.h"
#include "js/promises.h"
#include "machine/process_machine.h"
#include "nvml/reader.h"
#include "pagecache/walk.h"

namespace umaprobe {

// Made with the first call that needs a thread.
struct Jobs {
  explicit Jobs(napi_env env) : promises(env) {
    // A worker gives its memory back on the lane, whenever the call that it is in returns; the main
    // thread's goes with the process.
    if (!is_main_thread()) workers->on_exit(WorkerId::kCuda, [held = allocator] { held->close(); });
  }
  ~Jobs() { workers->close(); }

  static bool is_main_thread() { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

  PendingPromises promises;
  std::shared_ptr<WorkerThreads> workers = std::make_shared<WorkerThreads>();
  std::shared_ptr<CudaReader> cuda = std::make_shared<CudaReader>();
  std::shared_ptr<NvmlReader> nvml = std::make_shared<NvmlReader>();
  std::shared_ptr<Allocator> allocator = std::make_shared<Allocator>();
};

class Environment {
 public:
  explicit Environment(napi_env env) : env_(env) {}
  ~Environment() {
    if (guard) guard->stop();
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // What process.env said at the first look. Later changes of it have no effect: kernel and
  // libraries are of one machine from the first reading to the last.
  std::shared_ptr<const MachineConfig> config() {
    if (!config_) {
      Fact<MachineConfig> named = config_of_process_env(env_);
      if (const Failure* failure = failure_of(named)) {
        MachineConfig none;
        none.error = *failure;
        named = std::move(none);
      }
      MachineConfig& settled = std::get<MachineConfig>(named);
      if (!settled.error) settled.error = enter_machine(settled);
      config_ = std::make_shared<const MachineConfig>(std::move(settled));
    }
    return config_;
  }

  // Before the first look, or after one that was refused.
  std::optional<Failure> enter(MachineConfig named) {
    if (auto failure = enter_machine(named)) return failure;
    if (!config_ || config_->error) {
      config_ = std::make_shared<const MachineConfig>(std::move(named));
      host_.reset();
    }
    return std::nullopt;
  }

  Host& host() {
    if (!host_) host_ = open_host(*config());
    return *host_;
  }

  Jobs& jobs() {
    if (jobs_) return *jobs_;
    jobs_ = std::make_unique<Jobs>(env_);
    // Runs before Node takes the threadsafe function down (hooks run in reverse order), and long
    // before this object goes.
    napi_add_env_cleanup_hook(
        env_, [](void* workers) { static_cast<WorkerThreads*>(workers)->close(); },
        jobs_->workers.get());
    return *jobs_;
  }

  // Walks that have been begun and not ended, by id.
  std::unordered_map<uint32_t, std::shared_ptr<Walk>> walks;
  uint32_t last_walk = 0;

  // CUDA as the JavaScript thread uses it, for memGetInfoSync.
  CudaConnection cuda;
  CallContext context{/*watched=*/false};

  std::shared_ptr<Guard> guard;  // the last one that was started

 private:
  napi_env env_;
  std::shared_ptr<const MachineConfig> config_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<Jobs> jobs_;
};

}  // namespace umaprobe

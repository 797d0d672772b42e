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
  explicit Jobs(napi_env env) : mailbox(env) {
    // A worker gives its memory back on the lane, whenever the call that it is in returns; the main
    // thread's goes with the process.
    if (!is_main_thread()) lanes->at_end(LaneId::kCuda, [held = allocator] { held->close(); });
  }
  ~Jobs() { lanes->close(); }

  static bool is_main_thread() { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

  Mailbox mailbox;
  std::shared_ptr<Lanes> lanes = std::make_shared<Lanes>();
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
  std::shared_ptr<const LibraryPaths> paths() {
    if (!paths_) {
      Fact<LibraryPaths> named = paths_of_process_env(env_);
      if (const Failure* failure = failure_of(named)) {
        LibraryPaths none;
        none.refused = *failure;
        named = std::move(none);
      }
      LibraryPaths& settled = std::get<LibraryPaths>(named);
      if (!settled.refused) settled.refused = enter_machine(settled);
      paths_ = std::make_shared<const LibraryPaths>(std::move(settled));
    }
    return paths_;
  }

  // Before the first look, or after one that was refused.
  std::optional<Failure> enter(LibraryPaths named) {
    if (auto failure = enter_machine(named)) return failure;
    if (!paths_ || paths_->refused) {
      paths_ = std::make_shared<const LibraryPaths>(std::move(named));
      kernel_.reset();
    }
    return std::nullopt;
  }

  Kernel& kernel() {
    if (!kernel_) kernel_ = open_kernel(*paths());
    return *kernel_;
  }

  Jobs& jobs() {
    if (jobs_) return *jobs_;
    jobs_ = std::make_unique<Jobs>(env_);
    // Runs before Node takes the threadsafe function down (hooks run in reverse order), and long
    // before this object goes.
    napi_add_env_cleanup_hook(
        env_, [](void* lanes) { static_cast<Lanes*>(lanes)->close(); }, jobs_->lanes.get());
    return *jobs_;
  }

  // Walks that have been begun and not ended, by id.
  std::unordered_map<uint32_t, std::shared_ptr<Walk>> walks;
  uint32_t last_walk = 0;

  // CUDA as the JavaScript thread uses it, for memGetInfoSync.
  CudaConnection cuda;
  Flight flight{/*watched=*/false};

  std::shared_ptr<Guard> guard;  // the last one that was started

 private:
  napi_env env_;
  std::shared_ptr<const LibraryPaths> paths_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Jobs> jobs_;
};

}  // namespace umaprobe

// The allocator as guarded work: its stop source stops it, its CUDA worker thread frees its blocks.
#pragma once

#include <atomic>
#include <memory>

#include "alloc/allocator.h"
#include "guard/guarded_work.h"
#include "runtime/worker_threads.h"

namespace umaprobe {

class AllocatorWork final : public GuardedWork {
 public:
  AllocatorWork(std::shared_ptr<Allocator> allocator, std::shared_ptr<WorkerThreads> workers);

  void resume() override { allocator_->stop_source().reset(); }
  void stop() override { allocator_->stop_source().stop(); }
  bool busy() const override { return allocator_->stop_source().active(); }
  std::optional<Clock::time_point> idle_since() const override {
    return allocator_->stop_source().idle_since();
  }
  void free_all(Clock::time_point now) override;
  bool freeing() const override;
  std::optional<Clock::time_point> freed_at() const override;

 private:
  class FreeTask;

  const std::shared_ptr<Allocator> allocator_;
  const std::shared_ptr<WorkerThreads> workers_;
  std::shared_ptr<FreeTask> task_;
  // Time of the free; 0: not yet. It is shared with the tasks, which may outlive this object.
  const std::shared_ptr<std::atomic<Clock::rep>> freed_at_;
};

}  // namespace umaprobe

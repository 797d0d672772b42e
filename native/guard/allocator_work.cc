#include "guard/allocator_work.h"

#include <system_error>

namespace umaprobe {
namespace {

// Timeout of one attempt; no free takes that long.
constexpr auto kFreeTimeout = std::chrono::minutes(10);

}  // namespace

// Frees all blocks on the CUDA worker thread. No promise waits for it.
class AllocatorWork::FreeTask final : public Task {
 public:
  FreeTask(std::shared_ptr<Allocator> allocator, std::shared_ptr<std::atomic<Clock::rep>> freed_at)
      : allocator_(std::move(allocator)), freed_at_(std::move(freed_at)) {}

  void run(CallContext& context) override {
    const Fact<Freed> freed = allocator_->free_all(context);
    if (!failure_of(freed)) freed_at_->store(Clock::now().time_since_epoch().count());
  }
  void complete(std::optional<Failure>) override { completed_.store(true); }
  // Returns whether the task succeeded, failed, or was rejected because the worker thread hangs.
  bool completed() const { return completed_.load(); }

 private:
  const std::shared_ptr<Allocator> allocator_;
  const std::shared_ptr<std::atomic<Clock::rep>> freed_at_;
  std::atomic<bool> completed_{false};
};

AllocatorWork::AllocatorWork(std::shared_ptr<Allocator> allocator,
                             std::shared_ptr<WorkerThreads> workers)
    : allocator_(std::move(allocator)),
      workers_(std::move(workers)),
      freed_at_(std::make_shared<std::atomic<Clock::rep>>(0)) {}

void AllocatorWork::free_all(Clock::time_point now) {
  const bool nothing_held = allocator_->live().first == 0 && idle_since();
  if (nothing_held) {
    freed_at_->store(now.time_since_epoch().count());
    return;
  }
  task_ = std::make_shared<FreeTask>(allocator_, freed_at_);
  try {
    workers_->submit(WorkerId::kCuda, task_, kFreeTimeout);
  } catch (const std::system_error&) {  // no thread can be started; may be tried again
    task_.reset();
  }
}

bool AllocatorWork::freeing() const { return task_ && !task_->completed(); }

std::optional<Clock::time_point> AllocatorWork::freed_at() const {
  const Clock::rep at = freed_at_->load();
  if (at == 0) return std::nullopt;
  return Clock::time_point(Clock::duration(at));
}

}  // namespace umaprobe

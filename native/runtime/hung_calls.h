// Calls of this process that are past their deadline and have not returned, by worker thread. The
// record belongs to the process, as the libraries do: a library that hangs for one Node worker
// hangs for all.
#pragma once

#include <atomic>
#include <mutex>

#include "base/failure.h"
#include "runtime/call_context.h"

namespace umaprobe {

// kCuda and kNvml run calls of one library each. kHost runs slow work of the Linux kernel, such as
// dropping caches. kSync runs sync(2), and kFiles looks at files of any file system, which may be a
// network share that does not answer: neither must delay kHost.
enum class WorkerId { kCuda, kNvml, kHost, kSync, kFiles };
inline constexpr size_t kWorkerCount = 5;

class HungCalls {
 public:
  // Returns true, at little cost, from a call's deadline until the call returns.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  void begin(const CallContext& context);
  void end();
  // Describes the most recently detected call.
  Failure failure() const;

 private:
  std::atomic<int> count_{0};
  mutable std::mutex mutex_;
  const char* call_ = "";
  Clock::time_point since_;
};

HungCalls& hung_calls(WorkerId worker);

// "1200 ms".
std::string whole_ms(Clock::duration time);

// The failure of a call that did not return before its deadline.
Failure overdue_failure(const std::string& call, Clock::duration waited);

// The failure of a call that is not made because `call` has not returned.
Failure hung_failure(const char* call, Clock::time_point since);

}  // namespace umaprobe

#include "runtime/hung_calls.h"

#include <array>
#include <string>

namespace umaprobe {

void HungCalls::begin(const CallContext& context) {
  std::lock_guard<std::mutex> lock(mutex_);
  call_ = context.call();
  since_ = context.since();
  count_.fetch_add(1, std::memory_order_relaxed);
}

void HungCalls::end() { count_.fetch_sub(1, std::memory_order_relaxed); }

Failure HungCalls::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return hung_failure(call_, since_);
}

HungCalls& hung_calls(WorkerId worker) {
  // It is never destroyed: a worker thread may outlive static destruction.
  static auto& all = *new std::array<HungCalls, kWorkerCount>;
  return all[static_cast<size_t>(worker)];
}

std::string whole_ms(Clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
         " ms";
}

Failure overdue_failure(const std::string& call, Clock::duration waited) {
  return {"umaprobe", call, std::nullopt, "TIMEOUT",
          "no answer within " + whole_ms(waited) + ": blocked in " + call};
}

Failure hung_failure(const char* call, Clock::time_point since) {
  return {"umaprobe", call, std::nullopt, "TIMEOUT",
          "an earlier call is still blocked for " + whole_ms(Clock::now() - since) + " in " + call};
}

}  // namespace umaprobe

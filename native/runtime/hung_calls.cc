#include "runtime/hung_calls.h"

#include <array>
#include <string>

namespace umaprobe {

void StuckCalls::begin(const Flight& flight) {
  std::lock_guard<std::mutex> lock(mutex_);
  call_ = flight.call();
  since_ = flight.since();
  count_.fetch_add(1, std::memory_order_relaxed);
}

void StuckCalls::end() { count_.fetch_sub(1, std::memory_order_relaxed); }

Failure StuckCalls::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return stuck_failure(call_, since_);
}

StuckCalls& stuck_calls(LaneId library) {
  // Immortal: a lane's thread may outlive static destruction.
  static auto& all = *new std::array<StuckCalls, kLaneCount>;
  return all[static_cast<size_t>(library)];
}

Failure stuck_failure(const char* call, Clock::time_point since) {
  using std::chrono::milliseconds;
  const auto age = std::chrono::duration_cast<milliseconds>(Clock::now() - since).count();
  return {"umaprobe", call, std::nullopt, "TIMEOUT",
          "an earlier call is still blocked for " + std::to_string(age) + " ms in " + call};
}

}  // namespace umaprobe

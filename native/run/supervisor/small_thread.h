// A thread that may be stuck in the kernel or a library. Its stack is small, because all memory of
// the guard is locked, and nothing waits for it: it ends with the process.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <mutex>
#include <utility>

#include "base/monotonic_condition.h"

namespace umaprobe {

// Calls object->run() on a new thread; false if the system has none. `object` must live as long as
// the process.
template <class Object>
bool start_small_thread(Object* object, size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void* self) -> void* {
        static_cast<Object*>(self)->run();
        return nullptr;
      },
      object);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

// Calls `call` on a new thread; false if it has not returned by `until`. Everything that it uses
// must live as long as the process.
template <class Call>
bool returns_by(Clock::time_point until, size_t stack_bytes, Call call) {
  struct Pending {
    Call call;
    std::mutex mutex{};
    MonotonicCondition returned{};
    bool has_returned = false;
    void run() {
      call();
      const std::lock_guard<std::mutex> lock(mutex);
      has_returned = true;
      returned.notify();
    }
  };
  auto& pending = *new Pending{std::move(call)};
  if (!start_small_thread(&pending, stack_bytes)) pending.run();
  std::unique_lock<std::mutex> lock(pending.mutex);
  while (!pending.has_returned && Clock::now() < until) pending.returned.wait_until(lock, until);
  return pending.has_returned;
}

}  // namespace umaprobe

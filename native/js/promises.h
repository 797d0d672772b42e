// Work on a worker thread, as a Promise with a timeout. No other file knows both threads and
// promises.
#pragma once

#include <napi.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shared.h"
#include "js/to_js.h"
#include "runtime/worker_threads.h"

namespace umaprobe {

// A napi_threadsafe_function that may be called after its environment is gone: a worker thread may
// return from a call long after the Node worker was terminated. Node deletes a threadsafe function
// with its environment, whoever still holds it (node_api.cc,
// ThreadSafeFunction::EmptyQueueAndDelete, Node 20), so it is only used under this lock and never
// after its finalizer.
class ThreadsafeFunction {
 public:
  void attach(napi_threadsafe_function function) {
    std::lock_guard<std::mutex> lock(mutex_);
    function_ = function;
  }
  void detach() {
    std::lock_guard<std::mutex> lock(mutex_);
    function_ = nullptr;
  }
  // Returns false if the environment is gone: `data` then still belongs to the caller.
  bool call(void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    return function_ &&
           napi_call_threadsafe_function(function_, data, napi_tsfn_nonblocking) == napi_ok;
  }

 private:
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
};

// The unresolved promises of one environment. All but complete() runs on the JavaScript thread.
class PendingPromises {
 public:
  // Makes the value that a promise resolves to. Called on the JavaScript thread.
  using MakeValue = std::function<napi_value(napi_env, const std::optional<Failure>& timed_out)>;

  explicit PendingPromises(Napi::Env env) : function_(std::make_shared<ThreadsafeFunction>()) {
    napi_value name = Napi::String::New(env, "umaprobe.job");
    // The finalizer runs after this object is gone, so it holds its own reference.
    auto* held = new std::shared_ptr<ThreadsafeFunction>(function_);
    const napi_status status = napi_create_threadsafe_function(
        env, nullptr, nullptr, name, 0, 1, held, finalize, this, on_completion, &napi_function_);
    if (status != napi_ok) {
      delete held;
      throw Napi::Error::New(env, "umaprobe cannot create a threadsafe function");
    }
    function_->attach(napi_function_);
    // The function is referenced only while a promise is pending: an idle addon must not keep the
    // process alive.
    napi_unref_threadsafe_function(env, napi_function_);
  }
  PendingPromises(const PendingPromises&) = delete;
  PendingPromises& operator=(const PendingPromises&) = delete;

  Napi::Promise add(Napi::Env env, uint64_t& id, MakeValue make_value) {
    if (pending_.empty()) napi_ref_threadsafe_function(env, napi_function_);
    id = ++last_id_;
    auto deferred = Napi::Promise::Deferred::New(env);
    pending_.emplace(id, Pending{deferred, std::move(make_value)});
    return deferred.Promise();
  }

  void remove(Napi::Env env, uint64_t id) {
    pending_.erase(id);
    if (pending_.empty()) napi_unref_threadsafe_function(env, napi_function_);
  }

  // Safe on any thread: uses nothing but `function`.
  static void complete(ThreadsafeFunction& function, uint64_t id,
                       std::optional<Failure> timed_out) {
    auto completion = std::make_unique<Completion>(Completion{id, std::move(timed_out)});
    if (function.call(completion.get())) completion.release();
  }

  const std::shared_ptr<ThreadsafeFunction>& function() const { return function_; }

 private:
  struct Pending {
    Napi::Promise::Deferred deferred;
    MakeValue make_value;
  };
  struct Completion {
    uint64_t id;
    std::optional<Failure> timed_out;
  };

  static void finalize(napi_env, void* held, void*) {
    auto* function = static_cast<std::shared_ptr<ThreadsafeFunction>*>(held);
    (*function)->detach();
    delete function;
  }

  // `raw` is null while the environment is torn down; then the completion is dropped.
  static void on_completion(napi_env raw, napi_value, void* self, void* data) {
    const std::unique_ptr<Completion> completion(static_cast<Completion*>(data));
    if (raw) static_cast<PendingPromises*>(self)->resolve(Napi::Env(raw), *completion);
  }

  void resolve(Napi::Env env, const Completion& completion) {
    const auto found = pending_.find(completion.id);
    if (found == pending_.end()) return;
    Napi::HandleScope scope(env);
    const Pending pending = std::move(found->second);
    remove(env, completion.id);
    try {
      pending.deferred.Resolve(pending.make_value(env, completion.timed_out));
    } catch (const Napi::Error&) {
      // This happens only while a Node worker is being terminated; its promises are never observed.
    }
  }

  std::shared_ptr<ThreadsafeFunction> function_;
  napi_threadsafe_function napi_function_ = nullptr;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Pending> pending_;
};

// Called once, on any thread, when work is over, with the timeout if there was one.
using Done = std::function<void(std::optional<Failure>)>;

// A task that tells `done`.
template <class Work>
class WorkTask final : public Task {
 public:
  WorkTask(Work work, Done done) : work_(std::move(work)), done_(std::move(done)) {}
  void run(CallContext& context) override { work_(context); }
  void complete(std::optional<Failure> timed_out) override { done_(std::move(timed_out)); }

 private:
  Work work_;
  Done done_;
};

// The failure of a call for which there is no thread or no memory.
inline Failure no_thread(const std::exception& error) {
  return {"kernel", "pthread_create", EAGAIN, "EAGAIN",
          std::string("no thread can be started for this call: ") + error.what()};
}

// Work that is started, and the value of its result. Both share their state by shared_ptr: the work
// may still be running when the value is made.
struct Part {
  // It is called once, and may throw if there is no thread or no memory.
  std::function<void(Done)> start;
  PendingPromises::MakeValue make_value;
};

// `work(context)` on a worker thread.
template <class Work>
Part part_of(const std::shared_ptr<WorkerThreads>& workers, WorkerId worker,
             std::chrono::milliseconds timeout, Work work, PendingPromises::MakeValue make_value) {
  return {[workers, worker, timeout, work = std::move(work)](Done done) mutable {
            auto task = std::make_shared<WorkTask<Work>>(std::move(work), std::move(done));
            workers->submit(worker, std::move(task), timeout);
          },
          std::move(make_value)};
}

inline void start(const Part& part, const Done& done) {
  try {
    part.start(done);
  } catch (const std::exception& error) {
    done(no_thread(error));
  }
}

// The promise resolves with `make_value(env, timed_out)` when the work is done or at the timeout,
// whichever comes first.
inline Napi::Promise submit(Napi::Env env, PendingPromises& promises, Part part) {
  uint64_t id = 0;
  Napi::Promise promise = promises.add(env, id, std::move(part.make_value));
  start(part, [function = promises.function(), id](std::optional<Failure> timed_out) {
    PendingPromises::complete(*function, id, std::move(timed_out));
  });
  return promise;
}

// The same for parts that run side by side, as one list of values: waking the JavaScript thread
// takes longer than most readings, so it is woken once.
inline Napi::Promise submit(Napi::Env env, PendingPromises& promises, std::vector<Part> parts) {
  struct Together {
    std::atomic<size_t> open;
    std::vector<std::optional<Failure>> timed_out;  // each part writes its own entry
    std::vector<PendingPromises::MakeValue> make_values;
  };
  auto together = std::make_shared<Together>();
  together->open = parts.size();
  together->timed_out.resize(parts.size());
  for (Part& part : parts) together->make_values.push_back(std::move(part.make_value));
  uint64_t id = 0;
  auto make_list = [together](napi_env env, const std::optional<Failure>&) {
    napi_value list = nullptr;
    napi_create_array_with_length(env, together->make_values.size(), &list);
    for (uint32_t i = 0; i < together->make_values.size(); ++i) {
      napi_set_element(env, list, i, together->make_values[i](env, together->timed_out[i]));
    }
    return list;
  };
  Napi::Promise promise = promises.add(env, id, std::move(make_list));
  for (size_t i = 0; i < parts.size(); ++i) {
    start(parts[i], [together, i, id, function = promises.function()](auto timed_out) {
      together->timed_out[i] = std::move(timed_out);
      if (together->open.fetch_sub(1) == 1) PendingPromises::complete(*function, id, std::nullopt);
    });
  }
  return promise;
}

// The usual case: the promise resolves to what `work(context)` returns, or to the TIMEOUT failure.
template <class Work>
Napi::Promise promise_of(Napi::Env env, PendingPromises& promises,
                         const std::shared_ptr<WorkerThreads>& workers, WorkerId worker,
                         std::chrono::milliseconds timeout, Work work) {
  using Result = std::invoke_result_t<Work, CallContext&>;
  auto result = std::make_shared<Shared<std::optional<Result>>>();
  auto task = [result, work = std::move(work)](CallContext& context) {
    Result made = work(context);
    result->update([&](std::optional<Result>& value) { value.emplace(std::move(made)); });
  };
  auto make_value = [result](napi_env env, const std::optional<Failure>& timed_out) {
    if (timed_out) return to_js(env, *timed_out);
    return result->read([&](const std::optional<Result>& value) { return to_js(env, *value); });
  };
  return submit(env, promises,
                part_of(workers, worker, timeout, std::move(task), std::move(make_value)));
}

}  // namespace umaprobe

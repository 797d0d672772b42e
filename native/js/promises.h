// Work on a worker thread, as a Promise with a timeout. The only file that knows both threads and
// promises.
#pragma once

#include <napi.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

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
  // False: the environment is gone, and `data` still belongs to the caller.
  bool call(void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    return function_ &&
           napi_call_threadsafe_function(function_, data, napi_tsfn_nonblocking) == napi_ok;
  }

 private:
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
};

// The unresolved promises of one environment. Used on the JavaScript thread, except complete().
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
    // Referenced only while a promise is pending: an idle addon must not keep the process alive.
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
      // Thrown only while a Node worker is being terminated; its promises are never observed.
    }
  }

  std::shared_ptr<ThreadsafeFunction> function_;
  napi_threadsafe_function napi_function_ = nullptr;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Pending> pending_;
};

// A task that completes one promise.
template <class Work>
class PromiseTask final : public Task {
 public:
  PromiseTask(std::shared_ptr<ThreadsafeFunction> function, uint64_t id, Work work)
      : function_(std::move(function)), id_(id), work_(std::move(work)) {}
  void run(CallContext& context) override { work_(context); }
  void complete(std::optional<Failure> timed_out) override {
    PendingPromises::complete(*function_, id_, std::move(timed_out));
  }

 private:
  std::shared_ptr<ThreadsafeFunction> function_;
  uint64_t id_;
  Work work_;
};

// Runs `work(context)` on a worker thread. The promise resolves with `make_value(env, timed_out)`
// when the work is done or at the timeout, whichever comes first. Work and value share their state
// by shared_ptr: the work may still be running when the value is made.
template <class Work>
Napi::Promise submit(Napi::Env env, PendingPromises& promises, WorkerThreads& workers,
                     WorkerId worker, std::chrono::milliseconds timeout, Work work,
                     PendingPromises::MakeValue make_value) {
  uint64_t id = 0;
  Napi::Promise promise = promises.add(env, id, std::move(make_value));
  try {
    workers.submit(worker,
                   std::make_shared<PromiseTask<Work>>(promises.function(), id, std::move(work)),
                   timeout);
  } catch (const std::exception& error) {  // no more threads, no more memory
    PendingPromises::complete(
        *promises.function(), id,
        Failure{"kernel", "pthread_create", EAGAIN, "EAGAIN",
                std::string("no thread can be started for this call: ") + error.what()});
  }
  return promise;
}

// The usual case: the promise resolves to what `work(context)` returns, or to the TIMEOUT failure.
template <class Work>
Napi::Promise promise_of(Napi::Env env, PendingPromises& promises, WorkerThreads& workers,
                         WorkerId worker, std::chrono::milliseconds timeout, Work work) {
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
  return submit(env, promises, workers, worker, timeout, std::move(task), std::move(make_value));
}

}  // namespace umaprobe

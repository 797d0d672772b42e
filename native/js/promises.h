// Work off the JavaScript thread, as a Promise with a deadline. The only place that knows both
// threads and promises.
#pragma once

#include <napi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "runtime/worker_threads.h"

namespace umaprobe {

// The way back to the JavaScript thread, which outlives the environment: a lane's thread may come
// back from a call long after its worker was terminated. Node deletes a threadsafe function with
// its environment without asking who still holds it (node_api.cc,
// ThreadSafeFunction::EmptyQueueAndDelete, Node 20), so the function is only ever touched under
// this lock and never after its finalizer.
class Door {
 public:
  void open(napi_threadsafe_function function) {
    std::lock_guard<std::mutex> lock(mutex_);
    function_ = function;
  }
  void close() {
    std::lock_guard<std::mutex> lock(mutex_);
    function_ = nullptr;
  }
  // False: nobody is there any more, and `letter` is still the caller's.
  bool send(void* letter) {
    std::lock_guard<std::mutex> lock(mutex_);
    return function_ &&
           napi_call_threadsafe_function(function_, letter, napi_tsfn_nonblocking) == napi_ok;
  }

 private:
  std::mutex mutex_;
  napi_threadsafe_function function_ = nullptr;
};

// The promises of one environment. All of it but Door belongs to the JavaScript thread.
class Mailbox {
 public:
  // What a promise resolves to, made on the JavaScript thread.
  using Answer = std::function<napi_value(napi_env, const std::optional<Failure>& timed_out)>;

  explicit Mailbox(Napi::Env env) : door_(std::make_shared<Door>()) {
    napi_value name = Napi::String::New(env, "umaprobe.job");
    // The finalizer owns a reference of its own to the door: it runs after this object is gone.
    auto* held = new std::shared_ptr<Door>(door_);
    const napi_status status = napi_create_threadsafe_function(
        env, nullptr, nullptr, name, 0, 1, held, finalize, this, deliver, &function_);
    if (status != napi_ok) {
      delete held;
      throw Napi::Error::New(env, "umaprobe: no threadsafe function");
    }
    door_->open(function_);
    // Referenced only while somebody waits: an idle addon must not keep the process alive.
    napi_unref_threadsafe_function(env, function_);
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  Napi::Promise expect(Napi::Env env, uint64_t& id, Answer answer) {
    if (waiting_.empty()) napi_ref_threadsafe_function(env, function_);
    id = ++last_id_;
    auto deferred = Napi::Promise::Deferred::New(env);
    waiting_.emplace(id, Waiting{deferred, std::move(answer)});
    return deferred.Promise();
  }

  void forget(Napi::Env env, uint64_t id) {
    waiting_.erase(id);
    if (waiting_.empty()) napi_unref_threadsafe_function(env, function_);
  }

  // From any thread, by way of the door alone.
  static void post(Door& door, uint64_t id, std::optional<Failure> timed_out) {
    auto letter = std::make_unique<Letter>(Letter{id, std::move(timed_out)});
    if (door.send(letter.get())) letter.release();
  }

  const std::shared_ptr<Door>& door() const { return door_; }

 private:
  struct Waiting {
    Napi::Promise::Deferred deferred;
    Answer answer;
  };
  struct Letter {
    uint64_t id;
    std::optional<Failure> timed_out;
  };

  static void finalize(napi_env, void* held, void*) {
    auto* door = static_cast<std::shared_ptr<Door>*>(held);
    (*door)->close();
    delete door;
  }

  // Without an environment: it is going away, and letters are only thrown away.
  static void deliver(napi_env raw, napi_value, void* self, void* data) {
    const std::unique_ptr<Letter> letter(static_cast<Letter*>(data));
    if (raw) static_cast<Mailbox*>(self)->deliver(Napi::Env(raw), *letter);
  }

  void deliver(Napi::Env env, const Letter& letter) {
    const auto found = waiting_.find(letter.id);
    if (found == waiting_.end()) return;
    Napi::HandleScope scope(env);
    const Waiting waiting = std::move(found->second);
    forget(env, letter.id);
    try {
      waiting.deferred.Resolve(waiting.answer(env, letter.timed_out));
    } catch (const Napi::Error&) {
      // Only a worker that is being terminated refuses a value, and then nobody waits for it.
    }
  }

  std::shared_ptr<Door> door_;
  napi_threadsafe_function function_ = nullptr;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Waiting> waiting_;
};

// One submission: `work` on the lane, then its answer through the door.
template <class Work>
class Job final : public Task {
 public:
  Job(std::shared_ptr<Door> door, uint64_t id, Work work)
      : door_(std::move(door)), id_(id), work_(std::move(work)) {}
  void run(Flight& flight) override { work_(flight); }
  void answer(std::optional<Failure> timed_out) override {
    Mailbox::post(*door_, id_, std::move(timed_out));
  }

 private:
  std::shared_ptr<Door> door_;
  uint64_t id_;
  Work work_;
};

// Runs `work(flight)` on a lane; the promise resolves with `answer(env, timed_out)` when it is done
// or at the deadline, whichever comes first. Both share what they need by shared_ptr: `work` may
// still be running when the answer is made.
template <class Work>
Napi::Promise submit(Napi::Env env, Mailbox& mailbox, Lanes& lanes, LaneId lane,
                     std::chrono::milliseconds limit, Work work, Mailbox::Answer answer) {
  uint64_t id = 0;
  Napi::Promise promise = mailbox.expect(env, id, std::move(answer));
  try {
    lanes.submit(lane, std::make_shared<Job<Work>>(mailbox.door(), id, std::move(work)), limit);
  } catch (const std::exception& error) {  // no more threads, no more memory
    mailbox.forget(env, id);
    throw Napi::Error::New(env, std::string("umaprobe cannot start a thread: ") + error.what());
  }
  return promise;
}

}  // namespace umaprobe

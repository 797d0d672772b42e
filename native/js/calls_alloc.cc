// Allocating: blocks, what is done to them, and the guard.
#include <cerrno>

#include "js/calls.h"

namespace umaprobe {

// null
struct Nothing {};
static napi_value to_js(napi_env env, Nothing) { return null_js(env); }

namespace {

double number(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsNumber()) misuse(info, index, "a number");
  return info[index].As<Napi::Number>().DoubleValue();
}

// Runs `work(flight, allocator)`, which answers a Fact<T>, on the thread for CUDA.
template <class T, class Work>
Napi::Value on_lane(const Napi::CallbackInfo& info, size_t limit_index, Work work) {
  const auto deadline = limit(info, limit_index);
  Jobs& jobs = here(info).jobs();
  auto result = std::make_shared<Published<Maybe<T>>>();
  const auto job = [result, work = std::move(work), allocator = jobs.allocator](Flight& flight) {
    Fact<T> found = work(flight, *allocator);
    result->update([&](Maybe<T>& value) { value = std::move(found); });
  };
  const auto when_done = [result](napi_env env, const std::optional<Failure>& timed_out) {
    if (timed_out) return to_js(env, *timed_out);
    return result->look([&](const Maybe<T>& value) { return to_js(env, *value); });
  };
  return submit(info.Env(), jobs.mailbox, *jobs.lanes, LaneId::kCuda, deadline, job, when_done);
}

}  // namespace

Napi::Value AllocOpen(const Napi::CallbackInfo& info) {
  return on_lane<AllocatorReport>(
      info, 1,
      [device = integer(info, 0), paths = here(info).paths()](
          Flight& flight, Allocator& allocator) { return allocator.open(flight, *paths, device); });
}

Napi::Value AllocBlock(const Napi::CallbackInfo& info) {
  return on_lane<Allocated>(
      info, 2,
      [kind = text(info, 0), bytes = number(info, 1)](Flight& flight, Allocator& allocator) {
        return allocator.alloc(flight, kind, bytes);
      });
}

Napi::Value TouchBlock(const Napi::CallbackInfo& info) {
  return on_lane<Took>(
      info, 2,
      [block = integer(info, 0), seed = number(info, 1)](Flight& flight, Allocator& allocator) {
        return allocator.touch(flight, block, seed);
      });
}

Napi::Value VerifyBlock(const Napi::CallbackInfo& info) {
  return on_lane<Verified>(
      info, 2,
      [block = integer(info, 0), seed = number(info, 1)](Flight& flight, Allocator& allocator) {
        return allocator.verify(flight, block, seed);
      });
}

Napi::Value PokeBlock(const Napi::CallbackInfo& info) {
  return on_lane<Nothing>(info, 3,
                          [block = integer(info, 0), offset = number(info, 1),
                           byte = integer(info, 2)](Flight& flight, Allocator& allocator) {
                            auto failure = allocator.poke(flight, block, offset, byte);
                            return fact(failure, Nothing{});
                          });
}

Napi::Value FreeBlock(const Napi::CallbackInfo& info) {
  return on_lane<Took>(info, 1, [block = integer(info, 0)](Flight& flight, Allocator& allocator) {
    return allocator.free(flight, block);
  });
}

Napi::Value FreeBlocks(const Napi::CallbackInfo& info) {
  return on_lane<Freed>(
      info, 0, [](Flight& flight, Allocator& allocator) { return allocator.free_all(flight); });
}

Napi::Value LiveBlocks(const Napi::CallbackInfo& info) {
  return answer(info, here(info).jobs().allocator->live());
}

namespace {

Napi::Value option(const Napi::Object& options, const char* name) {
  const Napi::Value value = options.Get(name);
  if (!value.IsNumber() && !value.IsBoolean()) {
    throw Napi::TypeError::New(options.Env(), std::string("umaprobe binding: no option ") + name);
  }
  return value;
}

GuardOptions guard_options(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) misuse(info, 0, "an object");
  const auto given = info[0].As<Napi::Object>();
  GuardOptions options;
  options.floor = option(given, "floor").ToNumber();
  options.pressureFull = option(given, "pressureFull").ToNumber();
  options.intervalUs = option(given, "intervalUs").ToNumber();
  options.parent = option(given, "parent").ToNumber();
  options.exitAfterMs = option(given, "exitAfterMs").ToNumber();
  options.wordsFd = option(given, "wordsFd").ToNumber();
  return options;
}

}  // namespace

Napi::Value GuardStart(const Napi::CallbackInfo& info) {
  const GuardOptions options = guard_options(info);
  Environment& environment = here(info);
  if (environment.guard && environment.guard->read().running) {
    return answer(info, Failure{"umaprobe", "guardStart", EBUSY, "EBUSY",
                                "this environment has a guard that is running"});
  }
  Jobs& jobs = environment.jobs();
  auto started = Guard::start(options, *environment.paths(), jobs.allocator, jobs.lanes);
  if (const Failure* failure = failure_of(started)) return answer(info, *failure);
  environment.guard = std::get<std::shared_ptr<Guard>>(started);
  return info.Env().Null();
}

Napi::Value GuardRead(const Napi::CallbackInfo& info) {
  const auto& guard = here(info).guard;
  return answer(info, guard ? guard->read() : GuardReport{});
}

Napi::Value GuardStop(const Napi::CallbackInfo& info) {
  if (const auto& guard = here(info).guard) guard->stop();
  return info.Env().Undefined();
}

}  // namespace umaprobe

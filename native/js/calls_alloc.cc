// Allocating: blocks, what is done to them, and the guard.
#include <cerrno>

#include "guard/allocator_work.h"
#include "js/calls.h"

namespace umaprobe {

// null
struct Nothing {};
static napi_value to_js(napi_env env, Nothing) { return null_js(env); }

namespace {

double number(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsNumber()) type_error(info, index, "a number");
  return info[index].As<Napi::Number>().DoubleValue();
}

// Runs `work(flight, allocator)`, which answers a Fact<T>, on the thread for CUDA.
template <class T, class Work>
Napi::Value on_allocator(const Napi::CallbackInfo& info, size_t limit_index, Work work) {
  const auto deadline = limit(info, limit_index);
  Jobs& jobs = environment_of(info).jobs();
  auto result = std::make_shared<Shared<Maybe<T>>>();
  const auto job = [result, work = std::move(work),
                    allocator = jobs.allocator](CallContext& context) {
    Fact<T> found = work(context, *allocator);
    result->update([&](Maybe<T>& value) { value = std::move(found); });
  };
  const auto when_done = [result](napi_env env, const std::optional<Failure>& timed_out) {
    if (timed_out) return to_js(env, *timed_out);
    return result->read([&](const Maybe<T>& value) { return to_js(env, *value); });
  };
  return submit(info.Env(), jobs.promises, *jobs.workers, WorkerId::kCuda, deadline, job,
                when_done);
}

}  // namespace

Napi::Value AllocOpen(const Napi::CallbackInfo& info) {
  return on_allocator<AllocatorReport>(
      info, 1,
      [device = integer(info, 0), config = environment_of(info).config()](CallContext& context,
                                                                          Allocator& allocator) {
        return allocator.open(context, *config, device);
      });
}

Napi::Value AllocBlock(const Napi::CallbackInfo& info) {
  return on_allocator<Allocated>(
      info, 2,
      [kind = text(info, 0), bytes = number(info, 1)](CallContext& context, Allocator& allocator) {
        return allocator.alloc(context, kind, bytes);
      });
}

Napi::Value TouchBlock(const Napi::CallbackInfo& info) {
  return on_allocator<Timing>(info, 2,
                              [block = integer(info, 0), seed = number(info, 1)](
                                  CallContext& context, Allocator& allocator) {
                                return allocator.touch(context, block, seed);
                              });
}

Napi::Value VerifyBlock(const Napi::CallbackInfo& info) {
  return on_allocator<Verified>(info, 2,
                                [block = integer(info, 0), seed = number(info, 1)](
                                    CallContext& context, Allocator& allocator) {
                                  return allocator.verify(context, block, seed);
                                });
}

Napi::Value PokeBlock(const Napi::CallbackInfo& info) {
  return on_allocator<Nothing>(
      info, 3,
      [block = integer(info, 0), offset = number(info, 1), byte = integer(info, 2)](
          CallContext& context, Allocator& allocator) {
        auto failure = allocator.poke(context, block, offset, byte);
        return fact(failure, Nothing{});
      });
}

Napi::Value FreeBlock(const Napi::CallbackInfo& info) {
  return on_allocator<Timing>(
      info, 1, [block = integer(info, 0)](CallContext& context, Allocator& allocator) {
        return allocator.free(context, block);
      });
}

Napi::Value FreeBlocks(const Napi::CallbackInfo& info) {
  return on_allocator<Freed>(info, 0, [](CallContext& context, Allocator& allocator) {
    return allocator.free_all(context);
  });
}

Napi::Value LiveBlocks(const Napi::CallbackInfo& info) {
  return answer(info, environment_of(info).jobs().allocator->live());
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
  if (!info[0].IsObject()) type_error(info, 0, "an object");
  const auto given = info[0].As<Napi::Object>();
  GuardOptions options;
  options.floor = option(given, "floor").ToNumber();
  options.pressureFull = option(given, "pressureFull").ToNumber();
  options.intervalUs = option(given, "intervalUs").ToNumber();
  options.parent = option(given, "parent").ToNumber();
  options.exitAfterMs = option(given, "exitAfterMs").ToNumber();
  options.reportFd = option(given, "wordsFd").ToNumber();
  return options;
}

}  // namespace

Napi::Value GuardStart(const Napi::CallbackInfo& info) {
  const GuardOptions options = guard_options(info);
  Environment& environment = environment_of(info);
  if (environment.guard && environment.guard->read().running) {
    return answer(info, Failure{"umaprobe", "guardStart", EBUSY, "EBUSY",
                                "this environment has a guard that is running"});
  }
  Jobs& jobs = environment.jobs();
  auto work = std::make_shared<AllocatorWork>(jobs.allocator, jobs.workers);
  auto started = Guard::start(options, *environment.config(), std::move(work));
  if (const Failure* failure = failure_of(started)) return answer(info, *failure);
  environment.guard = std::get<std::shared_ptr<Guard>>(started);
  return info.Env().Null();
}

Napi::Value GuardRead(const Napi::CallbackInfo& info) {
  const auto& guard = environment_of(info).guard;
  return answer(info, guard ? guard->read() : GuardReport{});
}

Napi::Value GuardStop(const Napi::CallbackInfo& info) {
  if (const auto& guard = environment_of(info).guard) guard->stop();
  return info.Env().Undefined();
}

}  // namespace umaprobe

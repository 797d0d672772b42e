// Allocating: blocks, what is done to them, and the guard.
#include "calls.h"

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

}  // namespace umaprobe

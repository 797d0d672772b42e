// Device memory: blocks, and the guard that watches them.
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>

#include "guard/allocator_work.h"
#include "js/calls.h"

namespace umaprobe {

namespace {

double number(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsNumber()) throw_type_error(info, index, "a number");
  return info[index].As<Napi::Number>().DoubleValue();
}

// Runs `work(context, allocator)` on the CUDA worker thread. Argument `timeout_index` is its
// timeout.
template <class Work>
Napi::Value on_allocator(const Napi::CallbackInfo& info, size_t timeout_index, Work work) {
  const auto limit = timeout(info, timeout_index);
  Jobs& jobs = environment_of(info).jobs();
  return promise_of(info.Env(), jobs.promises, jobs.workers, WorkerId::kCuda, limit,
                    [work = std::move(work), allocator = jobs.allocator](CallContext& context) {
                      return work(context, *allocator);
                    });
}

}  // namespace

Napi::Value AllocOpen(const Napi::CallbackInfo& info) {
  return on_allocator(info, 1,
                      [device = integer(info, 0), config = environment_of(info).config()](
                          CallContext& context, Allocator& allocator) {
                        return allocator.open(context, *config, device);
                      });
}

Napi::Value AllocBlock(const Napi::CallbackInfo& info) {
  return on_allocator(
      info, 2,
      [kind = text(info, 0), bytes = number(info, 1)](CallContext& context, Allocator& allocator) {
        return allocator.alloc(context, kind, bytes);
      });
}

Napi::Value TouchBlock(const Napi::CallbackInfo& info) {
  return on_allocator(info, 2,
                      [block = integer(info, 0), seed = number(info, 1)](CallContext& context,
                                                                         Allocator& allocator) {
                        return allocator.touch(context, block, seed);
                      });
}

Napi::Value VerifyBlock(const Napi::CallbackInfo& info) {
  return on_allocator(info, 2,
                      [block = integer(info, 0), seed = number(info, 1)](CallContext& context,
                                                                         Allocator& allocator) {
                        return allocator.verify(context, block, seed);
                      });
}

Napi::Value FreeBlock(const Napi::CallbackInfo& info) {
  return on_allocator(info, 1,
                      [block = integer(info, 0)](CallContext& context, Allocator& allocator) {
                        return allocator.free(context, block);
                      });
}

Napi::Value FreeBlocks(const Napi::CallbackInfo& info) {
  return on_allocator(info, 0, [](CallContext& context, Allocator& allocator) {
    return allocator.free_all(context);
  });
}

Napi::Value LiveBlocks(const Napi::CallbackInfo& info) {
  return to_value(info, environment_of(info).jobs().allocator->live());
}

namespace {

ProbeRules probe_rules(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) throw_type_error(info, 0, "an object");
  const auto given = info[0].As<Napi::Object>();
  ProbeRules rules;
  for (const Given<ProbeRules>& row : kProbeRules) {
    const Napi::Value value = given.Get(row.name);
    if (!value.IsNumber()) {
      throw Napi::TypeError::New(
          info.Env(), std::string("umaprobe binding: option ") + row.name + " must be a number");
    }
    rules.*row.value = value.As<Napi::Number>().DoubleValue() * row.scale;
  }
  return rules;
}

}  // namespace

Napi::Value GuardStart(const Napi::CallbackInfo& info) {
  const ProbeRules rules = probe_rules(info);
  Environment& environment = environment_of(info);
  if (environment.guard && environment.guard->read().running) {
    return to_value(info, Failure{"umaprobe", "guardStart", EBUSY, "EBUSY",
                                  "a guard is already running in this environment"});
  }
  Jobs& jobs = environment.jobs();
  auto work = std::make_shared<AllocatorWork>(jobs.allocator, jobs.workers);
  auto started = Guard::start(rules, *environment.config(), std::move(work));
  if (const Failure* failure = failure_of(started)) return to_value(info, *failure);
  environment.guard = std::get<std::shared_ptr<Guard>>(started);
  return info.Env().Null();
}

Napi::Value GuardRead(const Napi::CallbackInfo& info) {
  const auto& guard = environment_of(info).guard;
  return to_value(info, guard ? guard->read() : GuardReport{});
}

Napi::Value GuardStop(const Napi::CallbackInfo& info) {
  if (const auto& guard = environment_of(info).guard) guard->stop();
  return info.Env().Undefined();
}

// The guard's thread cannot run while the process is stopped (SIGSTOP, a debugger, a frozen
// cgroup); the kernel's signal ends it even then.
Napi::Value DieWithParent(const Napi::CallbackInfo& info) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) return info.Env().Null();
  return to_value(info, errno_failure("kernel", "prctl(PR_SET_PDEATHSIG)", errno));
}

}  // namespace umaprobe

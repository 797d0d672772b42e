#include "sim/gpu/contexts.h"

#include <algorithm>

#include "abi/cuda.h"
#include "sim/gpu/backing.h"
#include "sim/gpu/reserve.h"
#include "sim/linux/locked.h"

namespace umasim {

ThreadView& thread_view(Session& session) {
  thread_local ThreadView view;
  if (view.session != &session) {
    view = ThreadView();
    view.session = &session;
  }
  return view;
}

int create_context(const Call& call, int device, bool primary, Context** context) {
  Session& session = call.session();
  State& state = call.state();
  int block;
  const int status =
      allocate(call, Kind::kContext, device, state.machine.devices[device].context_bytes, &block);
  if (status != 0) return status;
  sleep_ms(state, state.machine.timing.context_ms);
  {
    const Locked locked(state);
    state.world.counters.contexts_created++;
  }
  *context = new Context{device, block, primary, 0};
  const std::lock_guard<std::mutex> guard(session.lock);
  session.contexts.push_back(*context);
  if (primary) session.primary[device] = *context;
  return 0;
}

int ensure_primary(const Call& call, int device, Context** context) {
  // Its own lock, held while the context is made: two threads must not make two, and a third that
  // only asks whether there is one must not wait.
  static std::mutex& creating = *new std::mutex;
  const std::lock_guard<std::mutex> guard(creating);
  Session& session = call.session();
  {
    const std::lock_guard<std::mutex> session_guard(session.lock);
    *context = session.primary[device];
  }
  return *context != nullptr ? 0 : create_context(call, device, true, context);
}

void destroy_context(const Call& call, Context* context) {
  Session& session = call.session();
  std::vector<int> ids{context->block};
  {
    const std::lock_guard<std::mutex> guard(session.lock);
    auto& all = session.contexts;
    all.erase(std::remove(all.begin(), all.end(), context), all.end());
    if (context->primary) {
      session.primary[context->device] = nullptr;
      session.faulted[context->device] = 0;
      for (auto at = session.blocks.begin(); at != session.blocks.end();) {
        if (at->second.device != context->device || at->second.kind == Kind::kSystem) {
          ++at;
          continue;
        }
        ids.push_back(at->second.id);
        if (at->second.kind != Kind::kRegistered) {
          unmap_content(reinterpret_cast<void*>(at->first), at->second.size);
        }
        at = session.blocks.erase(at);
      }
    }
  }
  // Contexts themselves are never deleted: another thread's stack may still name one.
  for (const int id : ids) release(call, id);
}

bool is_live(Session& session, const Context* context) {
  const std::lock_guard<std::mutex> guard(session.lock);
  const auto& all = session.contexts;
  return std::find(all.begin(), all.end(), context) != all.end();
}

int driver_device(const Call& call, int* device) {
  Session& session = call.session();
  if (!session.cuda_ready) return umaprobe::kCudaNotInitialized;
  ThreadView& view = thread_view(session);
  if (view.stack.empty() || !is_live(session, view.stack.back())) {
    return umaprobe::kCudaInvalidContext;
  }
  *device = view.stack.back()->device;
  return 0;
}

int runtime_device(const Call& call, int* device) {
  Session& session = call.session();
  if (call.state().machine.device_count == 0) return umaprobe::kCudaNoDevice;
  session.cuda_ready = true;
  if (driver_device(call, device) == 0) return 0;
  ThreadView& view = thread_view(session);
  *device = view.device;
  Context* context;
  const int status = ensure_primary(call, *device, &context);
  if (status != 0) return status;
  if (view.stack.empty()) view.stack.push_back(context);
  view.stack.back() = context;
  return 0;
}

}  // namespace umasim

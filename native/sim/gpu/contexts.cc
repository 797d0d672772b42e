#include "sim/gpu/contexts.h"

#include <algorithm>

#include "abi/cuda.h"
#include "sim/gpu/backing.h"
#include "sim/gpu/reserve.h"
#include "sim/linux/locked.h"

namespace umasim {

CudaThread& cuda_thread(Session& session) {
  thread_local CudaThread thread;
  if (thread.session != &session) {
    thread = CudaThread();
    thread.session = &session;
  }
  return thread;
}

int create_context(const Call& call, int device, bool primary, Context** context) {
  Session& session = call.session();
  State& state = call.state();
  int block;
  const int status = reserve(call, BlockKind::kContext, device,
                             state.machine.devices[device].context_bytes, &block);
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
  // Held while a context is created, so two threads cannot create two. It is not the session's
  // lock, so that a thread that only asks for the context does not wait.
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
      for (auto at = session.allocations.begin(); at != session.allocations.end();) {
        if (at->second.device != context->device || at->second.kind == BlockKind::kSystem) {
          ++at;
          continue;
        }
        ids.push_back(at->second.id);
        if (at->second.kind != BlockKind::kRegistered) {
          unmap_backing(reinterpret_cast<void*>(at->first), at->second.size);
        }
        at = session.allocations.erase(at);
      }
    }
  }
  // Contexts are never deleted, because the stack of another thread may still refer to one.
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
  CudaThread& thread = cuda_thread(session);
  if (thread.stack.empty() || !is_live(session, thread.stack.back())) {
    return umaprobe::kCudaInvalidContext;
  }
  *device = thread.stack.back()->device;
  return 0;
}

int runtime_device(const Call& call, int* device) {
  Session& session = call.session();
  if (call.state().machine.device_count == 0) return umaprobe::kCudaNoDevice;
  session.cuda_ready = true;
  if (driver_device(call, device) == 0) return 0;
  CudaThread& thread = cuda_thread(session);
  *device = thread.device;
  Context* context;
  const int status = ensure_primary(call, *device, &context);
  if (status != 0) return status;
  if (thread.stack.empty()) thread.stack.push_back(context);
  thread.stack.back() = context;
  return 0;
}

}  // namespace umasim

#include "sim/gpu/contexts.h"

#include <algorithm>

#include "abi/cuda.h"
#include "sim/gpu/backing.h"
#include "sim/gpu/reserve.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

// The current context of this thread if it still exists, else null.
Context* current_context(Session& session) {
  const CudaThread& thread = cuda_thread(session);
  const bool current = !thread.stack.empty() && is_live(session, thread.stack.back());
  return current ? thread.stack.back() : nullptr;
}

// The status with which a device refuses to work, or 0.
int refusal_of_work(const Call& call, int device) {
  return is_lost(call.state(), device) ? int{umaprobe::kCudaUnknown} : call.refusal_of(device);
}

}  // namespace

CudaThread& cuda_thread(Session& session) {
  thread_local CudaThread thread;
  if (thread.session != &session) {
    thread = CudaThread();
    thread.session = &session;
  }
  return thread;
}

int init_cuda(const Call& call) {
  Session& session = call.session();
  if (session.cuda_ready) return 0;
  VisibleDevices visible;
  const int status = find_visible_devices(call.state(), &visible);
  if (status != 0) return status;
  const std::lock_guard<std::mutex> guard(session.lock);
  if (!session.cuda_ready) session.visible = visible;
  session.cuda_ready = true;
  return 0;
}

int device_of(const Session& session, int ordinal) {
  return ordinal >= 0 && ordinal < session.visible.count ? session.visible.index[ordinal] : -1;
}

int ordinal_of(const Session& session, int device) {
  for (int ordinal = 0; ordinal < session.visible.count; ordinal++) {
    if (session.visible.index[ordinal] == device) return ordinal;
  }
  return -1;
}

int create_context(const Call& call, int device, bool primary, Context** context) {
  Session& session = call.session();
  State& state = call.state();
  if (is_lost(state, device)) return umaprobe::kCudaUnknown;
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
  // This lock is held while a context is created, so two threads cannot create two. It is not the
  // session's lock, so that a thread that only asks for the context does not wait.
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
  if (!call.session().cuda_ready) return umaprobe::kCudaNotInitialized;
  const Context* context = current_context(call.session());
  if (context == nullptr) return umaprobe::kCudaInvalidContext;
  *device = context->device;
  return refusal_of_work(call, *device);
}

int runtime_device(const Call& call, int* device) {
  int status = init_cuda(call);
  if (status != 0) return status;
  Session& session = call.session();
  if (current_context(session) != nullptr) return driver_device(call, device);
  CudaThread& thread = cuda_thread(session);
  *device = device_of(session, thread.ordinal);
  // A fault of the call comes before its context, as when the creation of the context fails.
  status = refusal_of_work(call, *device);
  Context* context;
  if (status == 0) status = ensure_primary(call, *device, &context);
  if (status != 0) return status;
  if (thread.stack.empty()) thread.stack.push_back(context);
  thread.stack.back() = context;
  return 0;
}

}  // namespace umasim

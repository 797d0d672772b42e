// CUDA contexts of this process: the primary one of each device, those made explicitly, and which
// is current on a thread. Runtime and driver share them, as they do in CUDA.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// The thread's view; forgotten when the thread finds itself in another process or on another
// machine.
struct ThreadView {
  Session* session = nullptr;
  int device = 0;               // cudaSetDevice
  int last_error = 0;           // cudaGetLastError
  std::vector<Context*> stack;  // cuCtxPushCurrent
};
ThreadView& thread_view(Session& session);

// The device's primary context, made when there is none: that takes memory and time.
int ensure_primary(const Call& call, int device, Context** context);
int create_context(const Call& call, int device, bool primary, Context** context);
// Frees the context's memory; with a primary one also all allocations on its device.
void destroy_context(const Call& call, Context* context);
bool is_live(Session& session, const Context* context);

// The device that this thread's allocations go to. runtime_device makes a context where there is
// none; driver_device answers CUDA_ERROR_INVALID_CONTEXT.
int runtime_device(const Call& call, int* device);
int driver_device(const Call& call, int* device);

inline bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.state().machine.device_count;
}

}  // namespace umasim

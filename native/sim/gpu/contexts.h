// The CUDA contexts of this process: the primary one of each device, explicit ones, and the current
// one of each thread. Runtime and driver share them, as in CUDA.
#pragma once
#include "sim/gpu/call.h"

namespace umasim {

// The CUDA state of a thread. It is reset when the session changes: after a fork, or on another
// machine.
struct CudaThread {
  Session* session = nullptr;
  int device = 0;               // cudaSetDevice
  int last_error = 0;           // cudaGetLastError
  std::vector<Context*> stack;  // cuCtxPushCurrent
};
CudaThread& cuda_thread(Session& session);

// The primary context of the device, created if absent, which takes memory and time.
int ensure_primary(const Call& call, int device, Context** context);
int create_context(const Call& call, int device, bool primary, Context** context);
// Frees the memory of the context; for a primary context also all allocations on its device.
void destroy_context(const Call& call, Context* context);
bool is_live(Session& session, const Context* context);

// The current device of this thread. Without a context, runtime_device() creates one and
// driver_device() returns CUDA_ERROR_INVALID_CONTEXT.
int runtime_device(const Call& call, int* device);
int driver_device(const Call& call, int* device);

inline bool is_device(const Call& call, int device) {
  return device >= 0 && device < call.state().machine.device_count;
}

}  // namespace umasim

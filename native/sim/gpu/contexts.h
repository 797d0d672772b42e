// The CUDA contexts of this process: the primary one of each device, explicit ones, and the current
// one of each thread. Runtime and driver share them, as in CUDA.
#pragma once
#include "abi/cuda.h"
#include "sim/gpu/call.h"

namespace umasim {

// The CUDA state of a thread. It is reset when the session changes: after a fork, or on another
// machine.
struct CudaThread {
  Session* session = nullptr;
  int ordinal = 0;              // cudaSetDevice
  int last_error = 0;           // cudaGetLastError
  std::vector<Context*> stack;  // cuCtxPushCurrent
};
CudaThread& cuda_thread(Session& session);

// Initializes CUDA in this process, once: the devices that are visible then stay visible. Returns 0
// or the error of cuInit.
int init_cuda(const Call& call);
// The device of a CUDA ordinal, or -1; and back. A Call's device is an index into Machine::devices.
int device_of(const Session& session, int ordinal);
int ordinal_of(const Session& session, int device);

// The primary context of the device, created if absent, which takes memory and time.
int ensure_primary(const Call& call, int device, Context** context);
int create_context(const Call& call, int device, bool primary, Context** context);
// Frees the memory of the context; for a primary context also all allocations on its device.
void destroy_context(const Call& call, Context* context);
bool is_live(Session& session, const Context* context);

// Both return the current device of this thread, and whether it refuses the call. If there is no
// context, runtime_device() creates one and driver_device() returns CUDA_ERROR_INVALID_CONTEXT.
int runtime_device(const Call& call, int* device);
int driver_device(const Call& call, int* device);

// Runs `body(call, device)` for a function that gets an ordinal and needs no context. It answers
// for a lost device too, from what cuInit has read (inferred).
template <typename Body>
int with_ordinal(const Call& call, int ordinal, bool arguments_fine, Body body) {
  if (!arguments_fine) return umaprobe::kCudaInvalidValue;
  const int device = device_of(call.session(), ordinal);
  if (device < 0) return umaprobe::kCudaInvalidDevice;
  const int status = call.refusal_of(device);
  return status != 0 ? status : body(call, device);
}

}  // namespace umasim

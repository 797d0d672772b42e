// Helpers of the CUDA runtime functions.
#pragma once
#include "abi/cuda.h"
#include "sim/abi/export.h"
#include "sim/gpu/contexts.h"

namespace umasim {

// Runs `body(call)`. Keeps an error for cudaGetLastError.
template <typename Body>
cudaError_t runtime(const char* name, Body body) {
  const int status = run_call(Library::kCudart, name, body);
  if (status != 0) {
    if (Session* current = session()) cuda_thread(*current).last_error = status;
  }
  return status;
}

// Runs `body(call, device)` for a function of a device that needs no context.
template <typename Body>
cudaError_t about_device(const char* name, int ordinal, bool arguments_fine, Body body) {
  return runtime(name, [&](const Call& call) {
    const int status = init_cuda(call);
    return status != 0 ? status : with_ordinal(call, ordinal, arguments_fine, body);
  });
}

// Runs `body(call, device)` for a function that needs a context.
template <typename Body>
cudaError_t with_context(const char* name, Body body) {
  return runtime(name, [&](const Call& call) {
    int device;
    int status = runtime_device(call, &device);
    if (status == 0) status = call.session().faulted[device];
    return status != 0 ? status : body(call, device);
  });
}

}  // namespace umasim

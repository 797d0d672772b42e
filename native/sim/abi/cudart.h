// Shared by the files that make up the simulated CUDA runtime.
#pragma once
#include "abi/cuda.h"
#include "sim/gpu/contexts.h"

namespace umasim {

// Runs the body of a runtime function; an error is also remembered for cudaGetLastError.
template <typename Body>
cudaError_t runtime(const char* name, Body body) {
  const int status = answer(Library::kCudart, name, body);
  if (status != 0) {
    if (Session* here = session()) thread_view(*here).last_error = status;
  }
  return status;
}

// The same for what needs a context: body(call, device).
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

// Helpers of the CUDA driver functions.
#pragma once
#include "abi/cuda.h"
#include "sim/abi/export.h"
#include "sim/gpu/contexts.h"

extern "C" {
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
}

namespace umasim {

// Runs `body(call)`, or returns CUDA_ERROR_NOT_INITIALIZED.
template <typename Body>
CUresult driver(const char* name, Body body) {
  return run_call(Library::kCuda, name, [&](const Call& call) {
    return call.session().cuda_ready ? body(call) : int{umaprobe::kCudaNotInitialized};
  });
}

// Runs `body(call, device, facts)` for a function of a device. `ordinal` is the CUdevice.
template <typename Body>
CUresult about_device(const char* name, CUdevice ordinal, bool arguments_fine, Body body) {
  return driver(name, [&](const Call& call) {
    return with_ordinal(call, ordinal, arguments_fine, [&](const Call& same, int device) {
      return body(same, device, same.state().machine.devices[device]);
    });
  });
}

// Runs `body(call, device)` for a function that needs a current context.
template <typename Body>
CUresult in_context(const char* name, Body body) {
  return driver(name, [&](const Call& call) {
    int device;
    int status = driver_device(call, &device);
    if (status == 0) status = call.session().faulted[device];
    return status != 0 ? status : body(call, device);
  });
}

}  // namespace umasim

#include "sim/gpu/visible_devices.h"

#include "abi/cuda.h"

namespace umasim {
namespace {

// What the description says about the loss of a device that is lost.
CudaAfterLoss after_loss(const Machine& machine, int device) {
  for (int i = 0; i < machine.event_count; i++) {
    const ScriptedEvent& event = machine.events[i];
    if (event.kind == EventKind::kLost && event.device == device) return event.cuda_after_loss;
  }
  return CudaAfterLoss::kUnknownError;
}

// Adds a device that cuInit opens. Returns 0 or the error of cuInit.
int add(const State& state, int device, VisibleDevices& visible) {
  if (is_lost(state, device)) {
    const CudaAfterLoss answer = after_loss(state.machine, device);
    if (answer == CudaAfterLoss::kUnknownError) return umaprobe::kCudaUnknown;
    return answer == CudaAfterLoss::kNoDevice ? umaprobe::kCudaNoDevice : 0;
  }
  visible.index[visible.count] = device;
  visible.count++;
  return 0;
}

}  // namespace

int find_visible_devices(const State& state, VisibleDevices* visible) {
  *visible = {};
  for (int device = 0; device < state.machine.device_count; device++) {
    const int status = add(state, device, *visible);
    if (status != 0) return status;
  }
  return visible->count == 0 ? umaprobe::kCudaNoDevice : umaprobe::kCudaSuccess;
}

}  // namespace umasim

// Helpers of the NVML functions.
#pragma once
#include "abi/nvml.h"
#include "sim/abi/nvml_functions.h"
#include "sim/gpu/call.h"

namespace umasim {

// The handle of a device is the address of its description.
inline nvmlDevice_t handle_of(Session& session, int device) {
  return reinterpret_cast<nvmlDevice_t>(&session.state->machine.devices[device]);
}

// The index of a handle; -1 for an invalid one.
inline int index_of(Session& session, nvmlDevice_t handle) {
  for (int i = 0; i < session.state->machine.device_count; i++) {
    if (handle == handle_of(session, i)) return i;
  }
  return -1;
}

// Runs `body(call)`, or returns NVML_ERROR_UNINITIALIZED.
template <typename Body>
nvmlReturn_t nvml(const char* name, Body body) {
  return run_call(Library::kNvml, name, [&](const Call& call) {
    return call.session().nvml_users > 0 ? body(call) : int{umaprobe::kNvmlUninitialized};
  });
}

// Runs `body(call, index, facts)` for a function of a device.
template <typename Body>
nvmlReturn_t nvml_device(const char* name, nvmlDevice_t handle, bool arguments_fine, Body body) {
  return nvml(name, [&](const Call& call) {
    const int device = index_of(call.session(), handle);
    if (device < 0 || !arguments_fine) return int{umaprobe::kNvmlInvalidArgument};
    const int status = call.refusal_of(device);
    return status != 0 ? status : body(call, device, call.state().machine.devices[device]);
  });
}

// The answer of a device to a question for one number.
template <typename Number>
nvmlReturn_t nvml_value(const char* name, nvmlDevice_t handle, NvmlValue NvmlAnswers::*field,
                        Number* out) {
  return nvml_device(name, handle, out != nullptr, [&](const Call&, int, const Device& facts) {
    const NvmlValue& answer = facts.nvml.*field;
    if (answer.status == 0) *out = static_cast<Number>(answer.value);
    return answer.status;
  });
}

// GPU utilization while CUDA works, percent: as read on a GB10 under load.
constexpr unsigned int kBusyPercent = 96;

// Returns whether CUDA works on the device at present.
bool is_busy(State& state, int device);

// Copies text, or returns NVML_ERROR_INSUFFICIENT_SIZE.
int nvml_text(const char* text, char* out, unsigned int size);

}  // namespace umasim

// Shared by the files that make up the simulated NVML.
#pragma once
#include "abi/nvml.h"
#include "sim/gpu/call.h"

namespace umasim {

// A handle points at the machine's description of the device.
inline nvmlDevice_t handle_of(Session& session, int device) {
  return reinterpret_cast<nvmlDevice_t>(&session.state->machine.devices[device]);
}

// Index of a handle, -1 when it is none.
inline int index_of(Session& session, nvmlDevice_t handle) {
  for (int i = 0; i < session.state->machine.device_count; i++) {
    if (handle == handle_of(session, i)) return i;
  }
  return -1;
}

// Runs the body of a function once NVML is initialised.
template <typename Body>
nvmlReturn_t nvml(const char* name, Body body) {
  return answer(Library::kNvml, name, [&](const Call& call) {
    return call.session().nvml_users > 0 ? body(call) : int{umaprobe::kNvmlUninitialized};
  });
}

// For functions about a device: body(call, index, its facts).
template <typename Body>
nvmlReturn_t nvml_device(const char* name, nvmlDevice_t handle, bool arguments_fine, Body body) {
  return nvml(name, [&](const Call& call) {
    const int device = index_of(call.session(), handle);
    if (device < 0 || !arguments_fine) return int{umaprobe::kNvmlInvalidArgument};
    return body(call, device, call.state().machine.devices[device]);
  });
}

// Copies text as NVML does.
int nvml_text(const char* text, char* out, unsigned int size);

}  // namespace umasim

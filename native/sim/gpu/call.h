// The beginning of every simulated library function: whether its library and symbol exist, whether
// a fault hits the call, and whether the machine is wedged.
#pragma once
#include "sim/gpu/session.h"
#include "sim/state/clock.h"

namespace umasim {

enum class Library { kCudart, kCuda, kNvml };

class Call {
 public:
  Call(Library library, const char* name);

  // The status to return at once, or 0 to go on.
  int refusal() const { return refusal_; }
  // The status with which `device` refuses the call, or 0: a fault of that device, after its hang,
  // or for NVML its loss. Ask it once, as soon as the device of a call is known.
  int refusal_of(int device) const;
  // Both are valid only without a refusal.
  Session& session() const { return *session_; }
  State& state() const { return *session_->state; }
  const char* name() const { return name_; }

 private:
  Session* session_;
  Library library_;
  const char* name_;
  int refusal_;
};

bool has_library(const Machine& machine, Library library);
bool has_symbol(const Machine& machine, const char* name);

// Returns the refusal of the call, or else the result of `body(call)`.
template <typename Body>
int run_call(Library library, const char* name, Body body) {
  const Call call(library, name);
  return call.refusal() != 0 ? call.refusal() : body(call);
}

}  // namespace umasim

// What every function of the simulated libraries does first: is there such a library and function,
// does a fault of the machine hit this call, is the machine wedged.
#pragma once
#include "sim/gpu/session.h"
#include "sim/state/clock.h"

// test/clients/abi_sim.cc has another one, to compare these functions with NVIDIA's headers.
#ifndef UMASIM_API
#define UMASIM_API extern "C" __attribute__((visibility("default")))
#endif

namespace umasim {

enum class Library { kCudart, kCuda, kNvml };

class Call {
 public:
  Call(Library library, const char* name);

  // 0: go on. Otherwise what to answer.
  int refusal() const { return refusal_; }
  // Both only when there is no refusal.
  Session& session() const { return *session_; }
  State& state() const { return *session_->state; }
  const char* name() const { return name_; }

 private:
  Session* session_;
  const char* name_;
  int refusal_;
};

bool has_library(const Machine& machine, Library library);
bool has_symbol(const Machine& machine, const char* name);

// Runs `body(call)` unless the call is refused; the answer of either.
template <typename Body>
int answer(Library library, const char* name, Body body) {
  const Call call(library, name);
  return call.refusal() != 0 ? call.refusal() : body(call);
}

}  // namespace umasim

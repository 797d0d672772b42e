// Signals and pipes that a program gets from this process, besides its environment.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/end_by_signal.h"
#include "js/calls.h"
#include "runtime/passed_signals.h"

namespace umaprobe {

Napi::Value OpenPipe(const Napi::CallbackInfo& info) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return to_value(info, errno_failure("kernel", "pipe2", errno));
  }
  const Napi::Array pair = Napi::Array::New(info.Env(), 2);
  pair.Set(0u, ends[0]);
  pair.Set(1u, ends[1]);
  return pair;
}

Napi::Value TakeSignals(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), take_signals());
}

Napi::Value ReturnSignals(const Napi::CallbackInfo& info) {
  return_signals();
  return info.Env().Undefined();
}

Napi::Value EndBySignal(const Napi::CallbackInfo& info) {
  end_by_signal(info[0].ToNumber().Int32Value());
}

}  // namespace umaprobe

// The signals of this process.
#include "base/end_by_signal.h"
#include "js/calls.h"
#include "runtime/passed_signals.h"

namespace umaprobe {

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

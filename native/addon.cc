// The entry of the addon: exports the functions of js/calls.h.
#include <dlfcn.h>

#include "js/calls.h"

namespace umaprobe {
namespace {

// A worker thread may return into this code after the last environment is gone and Node has
// unloaded the addon.
void stay_loaded() { dlopen(addon_path().c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE); }

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  stay_loaded();
  env.SetInstanceData(new Environment(env));
#define X(function, name) exports[#name] = Napi::Function::New<function>(env, #name);
  UMAPROBE_CALLS(X)
#undef X
  return exports;
}

}  // namespace
}  // namespace umaprobe

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  return umaprobe::Init(env, exports);
}
NODE_API_MODULE(umaprobe, Init)

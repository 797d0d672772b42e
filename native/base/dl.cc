#include "base/dl.h"

#include <dlfcn.h>

namespace umaprobe {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text ? text : "the loader gave no reason";
}

}  // namespace

Fact<void*> open_shared_object(const std::string& path) {
  // RTLD_NOW: unresolved symbols must fail here and not in the middle of a call.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle) return handle;
  return library_missing("dlopen " + path, loader_error());
}

Failure library_missing(const std::string& call, const std::string& message) {
  return {"dl", call, std::nullopt, "LIBRARY_MISSING", message};
}

Failure symbol_missing(const std::string& library, const char* symbol) {
  return {"dl", symbol, std::nullopt, "SYMBOL_MISSING", library + " does not have " + symbol};
}

}  // namespace umaprobe

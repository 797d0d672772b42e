// Helpers of the functions that a preloaded libumasim replaces.
#pragma once
#include <dlfcn.h>

namespace umasim {

// Returns whether this library is preloaded. A library that is linked as libcudart simulates CUDA
// only.
bool preloaded();

// Returns whether the path is below /proc or /sys, and this library is preloaded.
bool may_be_simulated(const char* path);

// The function that this library replaces.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace umasim

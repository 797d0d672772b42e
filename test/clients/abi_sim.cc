// Compares the functions of one source file of the simulator with NVIDIA's headers. The test makes
// ABI_SOURCE that file and ABI_NAMES a file with NAME(function) lines:
//   c++ -std=c++17 -fsyntax-only -Inative -Inative/sim/abi -I… -DABI_SOURCE=… -DABI_NAMES=… abi_sim.cc
#include <bits/stdc++.h>  // all of it, so that our headers bring none into the namespace below
#include <dlfcn.h>
#include <pthread.h>

#include "abi_check.h"

#define UMASIM_API inline
namespace ours {
#include ABI_SOURCE
}  // namespace ours

#define __CUDA_API_VERSION_INTERNAL
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#ifdef NVIDIA_NVML_H
#include NVIDIA_NVML_H
#else
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#endif

#define NAME(function)                                                               \
  static_assert(abi::Alike<decltype(&ours::function), decltype(&::function)>::value, \
                #function " is declared differently");
#include ABI_NAMES

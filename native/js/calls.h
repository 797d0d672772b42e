// Parts that the exported functions share: the environment, argument conversion, return values. The
// functions of each topic are in calls_*.cc; addon.cc lists them all.
//
// Arguments are validated in lib/. The checks here only prevent crashes.
#pragma once

#include <napi.h>

#include <algorithm>
#include <string>

#include "js/environment.h"
#include "js/to_js.h"

namespace umaprobe {

inline Environment& environment_of(const Napi::CallbackInfo& info) {
  return *info.Env().GetInstanceData<Environment>();
}

[[noreturn]] inline void throw_type_error(const Napi::CallbackInfo& info, size_t index,
                                          const char* expected) {
  throw Napi::TypeError::New(
      info.Env(), "umaprobe binding: argument " + std::to_string(index) + " must be " + expected);
}

// Uses the C interface, like integer(): the C++ wrapper makes one V8 call per question, and with it
// memGetInfoSync cost 113 ns beside CUDA instead of 57 (Node 20, x64).
inline double* float64_array(const Napi::CallbackInfo& info, size_t index, size_t min_length) {
  napi_typedarray_type type{};
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(info.Env(), info[index], &type, &length, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_float64_array)
    throw_type_error(info, index, "a Float64Array");
  if (length < min_length) throw_type_error(info, index, "a longer Float64Array");
  return static_cast<double*>(data);
}

inline std::string text(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsString()) throw_type_error(info, index, "a string");
  return info[index].As<Napi::String>();
}

inline int integer(const Napi::CallbackInfo& info, size_t index) {
  int32_t value = 0;
  if (napi_get_value_int32(info.Env(), info[index], &value) != napi_ok)
    throw_type_error(info, index, "a number");
  return value;
}

inline std::chrono::milliseconds timeout(const Napi::CallbackInfo& info, size_t index) {
  constexpr int kMaxMs = 600'000;
  return std::chrono::milliseconds(std::clamp(integer(info, index), 1, kMaxMs));
}

template <class T>
Napi::Value to_value(const Napi::CallbackInfo& info, const T& value) {
  return Napi::Value(info.Env(), to_js(info.Env(), value));
}

// calls_read.cc: readings of the machine.
Napi::Value HostMemoryFields(const Napi::CallbackInfo& info);
Napi::Value HostMemory(const Napi::CallbackInfo& info);
Napi::Value ParseMeminfo(const Napi::CallbackInfo& info);
Napi::Value ParseCpuLists(const Napi::CallbackInfo& info);
Napi::Value ReadFiles(const Napi::CallbackInfo& info);
Napi::Value ReadFilesWithin(const Napi::CallbackInfo& info);
Napi::Value RereadFilesWithin(const Napi::CallbackInfo& info);
Napi::Value PageSize(const Napi::CallbackInfo& info);
Napi::Value ListDirectory(const Napi::CallbackInfo& info);
Napi::Value ListDirectoryWithin(const Napi::CallbackInfo& info);
Napi::Value ReadCuda(const Napi::CallbackInfo& info);
Napi::Value ReadNvml(const Napi::CallbackInfo& info);
Napi::Value ReadMachine(const Napi::CallbackInfo& info);
Napi::Value MemGetInfo(const Napi::CallbackInfo& info);
Napi::Value MemGetInfoSync(const Napi::CallbackInfo& info);
Napi::Value SimulatedMachine(const Napi::CallbackInfo& info);
Napi::Value MachineVariables(const Napi::CallbackInfo& info);
Napi::Value EnterMachine(const Napi::CallbackInfo& info);
Napi::Value SimBoot(const Napi::CallbackInfo& info);
Napi::Value SimRecord(const Napi::CallbackInfo& info);
Napi::Value SimHold(const Napi::CallbackInfo& info);
Napi::Value TimeScale(const Napi::CallbackInfo& info);

// calls_alloc.cc: device memory and the guard.
Napi::Value AllocOpen(const Napi::CallbackInfo& info);
Napi::Value AllocBlock(const Napi::CallbackInfo& info);
Napi::Value TouchBlock(const Napi::CallbackInfo& info);
Napi::Value VerifyBlock(const Napi::CallbackInfo& info);
Napi::Value FreeBlock(const Napi::CallbackInfo& info);
Napi::Value FreeBlocks(const Napi::CallbackInfo& info);
Napi::Value LiveBlocks(const Napi::CallbackInfo& info);
Napi::Value GuardStart(const Napi::CallbackInfo& info);
Napi::Value GuardRead(const Napi::CallbackInfo& info);
Napi::Value GuardStop(const Napi::CallbackInfo& info);
Napi::Value DieWithParent(const Napi::CallbackInfo& info);

// calls_signals.cc: the signals of this process.
Napi::Value OpenPipe(const Napi::CallbackInfo& info);
Napi::Value TakeSignals(const Napi::CallbackInfo& info);
Napi::Value ReturnSignals(const Napi::CallbackInfo& info);
Napi::Value EndBySignal(const Napi::CallbackInfo& info);

// calls_record.cc: the recorder.
Napi::Value RecorderStart(const Napi::CallbackInfo& info);
Napi::Value RecorderNote(const Napi::CallbackInfo& info);
Napi::Value RecorderRead(const Napi::CallbackInfo& info);
Napi::Value RecorderReadings(const Napi::CallbackInfo& info);
Napi::Value RecorderStop(const Napi::CallbackInfo& info);

// calls_cache.cc: the page cache, and the kernel's ways to free memory.
Napi::Value CacheWalk(const Napi::CallbackInfo& info);
Napi::Value CacheNext(const Napi::CallbackInfo& info);
Napi::Value CacheEnd(const Napi::CallbackInfo& info);
Napi::Value ResolvePath(const Napi::CallbackInfo& info);
Napi::Value FindMappings(const Napi::CallbackInfo& info);
Napi::Value SyncAll(const Napi::CallbackInfo& info);
Napi::Value WriteFile(const Napi::CallbackInfo& info);

}  // namespace umaprobe

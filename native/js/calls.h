// Parts that the exported functions share: the environment, argument conversion, return values.
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

// All functions that JavaScript can call: X(function, name in lib/core/native/contract.ts).
// clang-format off
#define UMAPROBE_CALLS(X)                                                                       \
  /* calls_read.cc: readings of the machine. */                                                 \
  X(HostMemoryFields, hostMemoryFields) X(HostMemory, hostMemory) X(ParseMeminfo, parseMeminfo) \
  X(ParseCpuLists, parseCpuLists) X(ReadCpuLists, readCpuLists) X(ReadFiles, readFiles)         \
  X(ReadFilesWithin, readFilesWithin) X(RereadFilesWithin, rereadFilesWithin)                   \
  X(PageSize, pageSize) X(ListDirectory, listDirectory) X(ReadCuda, readCuda)                   \
  X(ListDirectoryWithin, listDirectoryWithin) X(ReadNvml, readNvml) X(ReadMachine, readMachine) \
  X(MemGetInfo, memGetInfo) X(MemGetInfoSync, memGetInfoSync) X(SimHold, simHold)               \
  X(SimulatedMachine, simulatedMachine) X(MachineVariables, machineVariables)                   \
  X(EnterMachine, enterMachine) X(SimBoot, simBoot) X(SimRecord, simRecord)                     \
  X(TimeScale, timeScale)                                                                       \
  /* calls_alloc.cc: device memory and the guard. */                                            \
  X(AllocOpen, allocOpen) X(AllocBlock, allocBlock) X(TouchBlock, touchBlock)                   \
  X(VerifyBlock, verifyBlock) X(FreeBlock, freeBlock) X(FreeBlocks, freeBlocks)                 \
  X(LiveBlocks, liveBlocks) X(GuardStart, guardStart) X(GuardRead, guardRead)                   \
  X(GuardStop, guardStop) X(DieWithParent, dieWithParent)                                       \
  /* calls_signals.cc: the signals of this process. */                                          \
  X(OpenPipe, openPipe) X(TakeSignals, takeSignals) X(ReturnSignals, returnSignals)             \
  X(EndBySignal, endBySignal)                                                                   \
  /* calls_record.cc: the recorder. */                                                          \
  X(RecorderStart, recorderStart) X(RecorderNote, recorderNote) X(RecorderRead, recorderRead)   \
  X(RecorderReadings, recorderReadings) X(RecorderStop, recorderStop)                           \
  /* calls_cache.cc: the page cache, and the kernel's ways to free memory. */                   \
  X(CacheWalk, cacheWalk) X(CacheNext, cacheNext) X(CacheEnd, cacheEnd)                         \
  X(ResolvePath, resolvePath) X(FindMappings, mappings) X(SyncAll, syncAll)                     \
  X(WriteFile, writeFile)
// clang-format on

#define X(function, name) Napi::Value function(const Napi::CallbackInfo& info);
UMAPROBE_CALLS(X)
#undef X

}  // namespace umaprobe

// The list of all functions that JavaScript can call.
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
  // calls_read.cc
  exports["hostMemoryFields"] = Napi::Function::New<HostMemoryFields>(env, "hostMemoryFields");
  exports["hostMemory"] = Napi::Function::New<HostMemory>(env, "hostMemory");
  exports["parseMeminfo"] = Napi::Function::New<ParseMeminfo>(env, "parseMeminfo");
  exports["parseCpuLists"] = Napi::Function::New<ParseCpuLists>(env, "parseCpuLists");
  exports["readFiles"] = Napi::Function::New<ReadFiles>(env, "readFiles");
  exports["readFilesWithin"] = Napi::Function::New<ReadFilesWithin>(env, "readFilesWithin");
  exports["rereadFilesWithin"] = Napi::Function::New<RereadFilesWithin>(env, "rereadFilesWithin");
  exports["pageSize"] = Napi::Function::New<PageSize>(env, "pageSize");
  exports["listDirectory"] = Napi::Function::New<ListDirectory>(env, "listDirectory");
  exports["listDirectoryWithin"] =
      Napi::Function::New<ListDirectoryWithin>(env, "listDirectoryWithin");
  exports["readCuda"] = Napi::Function::New<ReadCuda>(env, "readCuda");
  exports["readNvml"] = Napi::Function::New<ReadNvml>(env, "readNvml");
  exports["readMachine"] = Napi::Function::New<ReadMachine>(env, "readMachine");
  exports["memGetInfo"] = Napi::Function::New<MemGetInfo>(env, "memGetInfo");
  exports["memGetInfoSync"] = Napi::Function::New<MemGetInfoSync>(env, "memGetInfoSync");
  exports["simulatedMachine"] = Napi::Function::New<SimulatedMachine>(env, "simulatedMachine");
  exports["machineVariables"] = Napi::Function::New<MachineVariables>(env, "machineVariables");
  exports["enterMachine"] = Napi::Function::New<EnterMachine>(env, "enterMachine");
  exports["simBoot"] = Napi::Function::New<SimBoot>(env, "simBoot");
  exports["simRecord"] = Napi::Function::New<SimRecord>(env, "simRecord");
  exports["simHold"] = Napi::Function::New<SimHold>(env, "simHold");
  exports["timeScale"] = Napi::Function::New<TimeScale>(env, "timeScale");
  // calls_alloc.cc
  exports["allocOpen"] = Napi::Function::New<AllocOpen>(env, "allocOpen");
  exports["allocBlock"] = Napi::Function::New<AllocBlock>(env, "allocBlock");
  exports["touchBlock"] = Napi::Function::New<TouchBlock>(env, "touchBlock");
  exports["verifyBlock"] = Napi::Function::New<VerifyBlock>(env, "verifyBlock");
  exports["freeBlock"] = Napi::Function::New<FreeBlock>(env, "freeBlock");
  exports["freeBlocks"] = Napi::Function::New<FreeBlocks>(env, "freeBlocks");
  exports["liveBlocks"] = Napi::Function::New<LiveBlocks>(env, "liveBlocks");
  exports["guardStart"] = Napi::Function::New<GuardStart>(env, "guardStart");
  exports["guardRead"] = Napi::Function::New<GuardRead>(env, "guardRead");
  exports["guardStop"] = Napi::Function::New<GuardStop>(env, "guardStop");
  exports["openPipe"] = Napi::Function::New<OpenPipe>(env, "openPipe");
  exports["takeSignals"] = Napi::Function::New<TakeSignals>(env, "takeSignals");
  exports["returnSignals"] = Napi::Function::New<ReturnSignals>(env, "returnSignals");
  exports["endBySignal"] = Napi::Function::New<EndBySignal>(env, "endBySignal");
  exports["recorderStart"] = Napi::Function::New<RecorderStart>(env, "recorderStart");
  exports["recorderNote"] = Napi::Function::New<RecorderNote>(env, "recorderNote");
  exports["recorderRead"] = Napi::Function::New<RecorderRead>(env, "recorderRead");
  exports["recorderReadings"] = Napi::Function::New<RecorderReadings>(env, "recorderReadings");
  exports["recorderStop"] = Napi::Function::New<RecorderStop>(env, "recorderStop");
  exports["dieWithParent"] = Napi::Function::New<DieWithParent>(env, "dieWithParent");
  // calls_cache.cc
  exports["cacheWalk"] = Napi::Function::New<CacheWalk>(env, "cacheWalk");
  exports["cacheNext"] = Napi::Function::New<CacheNext>(env, "cacheNext");
  exports["cacheEnd"] = Napi::Function::New<CacheEnd>(env, "cacheEnd");
  exports["resolvePath"] = Napi::Function::New<ResolvePath>(env, "resolvePath");
  exports["mappings"] = Napi::Function::New<FindMappings>(env, "mappings");
  exports["syncAll"] = Napi::Function::New<SyncAll>(env, "syncAll");
  exports["writeFile"] = Napi::Function::New<WriteFile>(env, "writeFile");
  return exports;
}

}  // namespace
}  // namespace umaprobe

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  return umaprobe::Init(env, exports);
}
NODE_API_MODULE(umaprobe, Init)

// The one list of what JavaScript can call. Arguments are checked in lib/; here they are only kept
// from crashing.
#include <dlfcn.h>
#include <napi.h>

#include <algorithm>

#include "environment.h"
#include "memgetinfo.h"
#include "meminfo.h"
#include "simulator.h"
#include "value.h"

namespace umaprobe {
namespace {

Environment& here(const Napi::CallbackInfo& info) {
  return *info.Env().GetInstanceData<Environment>();
}

[[noreturn]] void misuse(const Napi::CallbackInfo& info, size_t index, const char* expected) {
  throw Napi::TypeError::New(
      info.Env(), "umaprobe binding: argument " + std::to_string(index) + " must be " + expected);
}

// Over the C interface, like integer(): the wrapper asks V8 one thing at a time, and what
// memGetInfoSync costs beside CUDA was 113 ns that way and is 57 (Node 20, x64).
double* slots(const Napi::CallbackInfo& info, size_t index, size_t least) {
  napi_typedarray_type type{};
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_typedarray_info(info.Env(), info[index], &type, &length, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_float64_array)
    misuse(info, index, "a Float64Array");
  if (length < least) misuse(info, index, "a longer Float64Array");
  return static_cast<double*>(data);
}

std::string text(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsString()) misuse(info, index, "a string");
  return info[index].As<Napi::String>();
}

int integer(const Napi::CallbackInfo& info, size_t index) {
  int32_t value = 0;
  if (napi_get_value_int32(info.Env(), info[index], &value) != napi_ok)
    misuse(info, index, "a number");
  return value;
}

std::chrono::milliseconds limit(const Napi::CallbackInfo& info, size_t index) {
  constexpr int kLongest = 600'000;
  return std::chrono::milliseconds(std::clamp(integer(info, index), 1, kLongest));
}

template <class T>
Napi::Value answer(const Napi::CallbackInfo& info, const T& value) {
  return Napi::Value(info.Env(), to_js(info.Env(), value));
}

Napi::Value HostMemoryFields(const Napi::CallbackInfo& info) {
  std::vector<std::string> names;
  for (const MeminfoRow& row : kMeminfo) names.emplace_back(row.field);
  return answer(info, names);
}

Napi::Value HostMemory(const Napi::CallbackInfo& info) {
  return answer(info, read_meminfo(here(info).kernel(), slots(info, 0, kMeminfoFields)));
}

Napi::Value ParseMeminfo(const Napi::CallbackInfo& info) {
  parse_meminfo(text(info, 0), slots(info, 1, kMeminfoFields));
  return info.Env().Undefined();
}

Napi::Value ReadFiles(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) misuse(info, 0, "an array of strings");
  const auto paths = info[0].As<Napi::Array>();
  std::vector<Fact<std::string>> texts;
  for (uint32_t i = 0; i < paths.Length(); ++i) {
    const Napi::Value path = paths[i];
    if (!path.IsString()) misuse(info, 0, "an array of strings");
    texts.push_back(read_file(here(info).kernel(), path.As<Napi::String>()));
  }
  return answer(info, texts);
}

Napi::Value PageSize(const Napi::CallbackInfo& info) {
  return answer(info, here(info).kernel().page_size());
}

Napi::Value ListDirectory(const Napi::CallbackInfo& info) {
  return answer(info, list_directory(here(info).kernel(), text(info, 0)));
}

// A report as it stands now, with the reason if it is not finished.
template <class Report>
Mailbox::Answer report_answer(std::shared_ptr<Published<Report>> report) {
  return [report](napi_env env, const std::optional<Failure>& timed_out) {
    return report->look([&](const Report& value) {
      Fields fields(env);
      value.visit(fields);
      fields.nullable("timedOut", timed_out);
      return fields.object();
    });
  };
}

Napi::Value ReadCuda(const Napi::CallbackInfo& info) {
  const auto mode = static_cast<MemGetInfoMode>(std::clamp(integer(info, 0), 0, 2));
  Jobs& jobs = here(info).jobs();
  auto report = std::make_shared<Published<CudaReport>>();
  const auto work = [report, mode, reader = jobs.cuda, paths = here(info).paths()](Flight& flight) {
    reader->read(flight, *paths, mode, *report);
  };
  return submit(info.Env(), jobs.mailbox, *jobs.lanes, LaneId::kCuda, limit(info, 1), work,
                report_answer(report));
}

Napi::Value ReadNvml(const Napi::CallbackInfo& info) {
  Jobs& jobs = here(info).jobs();
  auto report = std::make_shared<Published<NvmlReport>>();
  const auto work = [report, reader = jobs.nvml, paths = here(info).paths()](Flight& flight) {
    reader->read(flight, *paths, *report);
  };
  return submit(info.Env(), jobs.mailbox, *jobs.lanes, LaneId::kNvml, limit(info, 0), work,
                report_answer(report));
}

Napi::Value MemGetInfo(const Napi::CallbackInfo& info) {
  const int device = integer(info, 0);
  Jobs& jobs = here(info).jobs();
  auto result = std::make_shared<Published<Maybe<FreeAndTotal>>>();
  const auto work = [result, device, reader = jobs.cuda,
                     paths = here(info).paths()](Flight& flight) {
    auto reading = reader->mem_get_info(flight, *paths, device);
    result->update([&](Maybe<FreeAndTotal>& value) { value = std::move(reading); });
  };
  const auto when_done = [result](napi_env env, const std::optional<Failure>& timed_out) {
    if (timed_out) return to_js(env, *timed_out);
    return result->look([&](const Maybe<FreeAndTotal>& value) { return to_js(env, *value); });
  };
  return submit(info.Env(), jobs.mailbox, *jobs.lanes, LaneId::kCuda, limit(info, 1), work,
                when_done);
}

Napi::Value MemGetInfoSync(const Napi::CallbackInfo& info) {
  const int device = integer(info, 0);
  double* out = slots(info, 1, 2);
  // Where one call hangs, of whichever thread, the next would hang as well, and this one would take
  // JavaScript with it.
  const StuckCalls& stuck = stuck_calls(LaneId::kCuda);
  if (stuck.any()) return answer(info, stuck.failure());
  Environment& environment = here(info);
  CudaConnection& cuda = environment.cuda;
  if (!cuda.usable()) {
    const auto paths = environment.paths();
    cuda.connect_runtime(environment.flight, *paths);
    cuda.connect_driver(environment.flight, *paths);
  }
  Fact<FreeAndTotal> reading = mem_get_info(environment.flight, cuda, device, Thread::kCallers);
  if (const Failure* failure = failure_of(reading)) return answer(info, *failure);
  std::tie(out[0], out[1]) = std::get<FreeAndTotal>(reading);
  return info.Env().Null();
}

Napi::Value SimulatedMachine(const Napi::CallbackInfo& info) {
  const Fact<std::string> machine = here(info).kernel().machine();
  const auto* name = std::get_if<std::string>(&machine);
  return name && name->empty() ? info.Env().Null() : answer(info, machine);
}

Napi::Value MachineVariables(const Napi::CallbackInfo& info) {
  return answer(info, *here(info).paths());
}

Napi::Value EnterMachine(const Napi::CallbackInfo& info) {
  return answer(info, here(info).enter(paths_on(text(info, 1), text(info, 0))));
}

Napi::Value SimBoot(const Napi::CallbackInfo& info) {
  return answer(info, boot(text(info, 0), text(info, 1), text(info, 2)));
}

Napi::Value SimRecord(const Napi::CallbackInfo& info) {
  return answer(info, record(text(info, 0), text(info, 1)));
}

// A lane's thread may return into this code after the last environment is gone and Node has
// unloaded the addon.
void stay_loaded() { dlopen(own_path().c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE); }

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  stay_loaded();
  env.SetInstanceData(new Environment(env));
  exports["hostMemoryFields"] = Napi::Function::New<HostMemoryFields>(env, "hostMemoryFields");
  exports["hostMemory"] = Napi::Function::New<HostMemory>(env, "hostMemory");
  exports["parseMeminfo"] = Napi::Function::New<ParseMeminfo>(env, "parseMeminfo");
  exports["readFiles"] = Napi::Function::New<ReadFiles>(env, "readFiles");
  exports["pageSize"] = Napi::Function::New<PageSize>(env, "pageSize");
  exports["listDirectory"] = Napi::Function::New<ListDirectory>(env, "listDirectory");
  exports["readCuda"] = Napi::Function::New<ReadCuda>(env, "readCuda");
  exports["readNvml"] = Napi::Function::New<ReadNvml>(env, "readNvml");
  exports["memGetInfo"] = Napi::Function::New<MemGetInfo>(env, "memGetInfo");
  exports["memGetInfoSync"] = Napi::Function::New<MemGetInfoSync>(env, "memGetInfoSync");
  exports["simulatedMachine"] = Napi::Function::New<SimulatedMachine>(env, "simulatedMachine");
  exports["machineVariables"] = Napi::Function::New<MachineVariables>(env, "machineVariables");
  exports["enterMachine"] = Napi::Function::New<EnterMachine>(env, "enterMachine");
  exports["simBoot"] = Napi::Function::New<SimBoot>(env, "simBoot");
  exports["simRecord"] = Napi::Function::New<SimRecord>(env, "simRecord");
  return exports;
}

}  // namespace
}  // namespace umaprobe

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  return umaprobe::Init(env, exports);
}
NODE_API_MODULE(umaprobe, Init)

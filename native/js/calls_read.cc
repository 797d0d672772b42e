// Readings of the host, CUDA and NVML, and the machine that they come from.
#include "cuda/mem_get_info.h"
#include "host/meminfo.h"
#include "js/calls.h"
#include "machine/simulator.h"

namespace umaprobe {

Napi::Value HostMemoryFields(const Napi::CallbackInfo& info) {
  std::vector<std::string> names;
  for (const MeminfoRow& row : kMeminfo) names.emplace_back(row.field);
  return to_value(info, names);
}

Napi::Value HostMemory(const Napi::CallbackInfo& info) {
  return to_value(
      info, read_meminfo(environment_of(info).host(), float64_array(info, 0, kMeminfoFields)));
}

Napi::Value ParseMeminfo(const Napi::CallbackInfo& info) {
  parse_meminfo(text(info, 0), float64_array(info, 1, kMeminfoFields));
  return info.Env().Undefined();
}

namespace {

// `read(path)` of each path in the first argument.
template <class Read>
Napi::Value texts_of_files(const Napi::CallbackInfo& info, Read read) {
  if (!info[0].IsArray()) throw_type_error(info, 0, "an array of strings");
  const auto paths = info[0].As<Napi::Array>();
  std::vector<Fact<std::string>> texts;
  texts.reserve(paths.Length());
  for (uint32_t i = 0; i < paths.Length(); ++i) {
    const Napi::Value path = paths[i];
    if (!path.IsString()) throw_type_error(info, 0, "an array of strings");
    texts.push_back(read(std::string(path.As<Napi::String>())));
  }
  return to_value(info, texts);
}

}  // namespace

Napi::Value ReadFiles(const Napi::CallbackInfo& info) {
  Host& host = environment_of(info).host();
  return texts_of_files(info, [&](const std::string& path) { return read_file(host, path); });
}

Napi::Value RereadFiles(const Napi::CallbackInfo& info) {
  Host& host = environment_of(info).host();
  constexpr int kMaxBytes = 1 << 20;
  const auto bytes = static_cast<size_t>(std::clamp(integer(info, 1), 1, kMaxBytes));
  return texts_of_files(info,
                        [&](const std::string& path) { return reread_file(host, path, bytes); });
}

Napi::Value PageSize(const Napi::CallbackInfo& info) {
  return to_value(info, environment_of(info).host().page_size());
}

Napi::Value ListDirectory(const Napi::CallbackInfo& info) {
  return to_value(info, list_directory(environment_of(info).host(), text(info, 0)));
}

namespace {

// The report so far, with the timeout if the reading is not finished.
template <class Report>
PendingPromises::MakeValue value_of_report(std::shared_ptr<Shared<Report>> report) {
  return [report](napi_env env, const std::optional<Failure>& timed_out) {
    return report->read([&](const Report& value) {
      Fields fields(env);
      value.visit(fields);
      fields.nullable("timedOut", timed_out);
      return fields.object();
    });
  };
}

}  // namespace

Napi::Value ReadCuda(const Napi::CallbackInfo& info) {
  const auto mode = static_cast<MemGetInfoMode>(std::clamp(integer(info, 0), 0, 2));
  const int known = info.Length() > 2 ? integer(info, 2) : 0;
  Jobs& jobs = environment_of(info).jobs();
  auto report = std::make_shared<Shared<CudaReport>>();
  const auto work = [report, mode, known, reader = jobs.cuda,
                     config = environment_of(info).config()](CallContext& context) {
    reader->read(context, *config, mode, known, *report);
  };
  return submit(info.Env(), jobs.promises, *jobs.workers, WorkerId::kCuda, timeout(info, 1), work,
                value_of_report(report));
}

Napi::Value ReadNvml(const Napi::CallbackInfo& info) {
  Jobs& jobs = environment_of(info).jobs();
  auto report = std::make_shared<Shared<NvmlReport>>();
  const auto work = [report, reader = jobs.nvml, config = environment_of(info).config()](
                        CallContext& context) { reader->read(context, *config, *report); };
  return submit(info.Env(), jobs.promises, *jobs.workers, WorkerId::kNvml, timeout(info, 0), work,
                value_of_report(report));
}

Napi::Value MemGetInfo(const Napi::CallbackInfo& info) {
  const int device = integer(info, 0);
  const auto limit = timeout(info, 1);
  Environment& environment = environment_of(info);
  Jobs& jobs = environment.jobs();
  return promise_of(
      info.Env(), jobs.promises, *jobs.workers, WorkerId::kCuda, limit,
      [device, reader = jobs.cuda, config = environment.config()](CallContext& context) {
        return reader->mem_get_info(context, *config, device);
      });
}

Napi::Value MemGetInfoSync(const Napi::CallbackInfo& info) {
  const int device = integer(info, 0);
  double* out = float64_array(info, 1, 2);
  // If a CUDA call of any thread hangs, this one would hang as well, and JavaScript with it.
  const HungCalls& hung = hung_calls(WorkerId::kCuda);
  if (hung.any()) return to_value(info, hung.failure());
  Environment& environment = environment_of(info);
  CudaConnection& cuda = environment.cuda;
  if (!cuda.usable()) {
    const auto config = environment.config();
    cuda.connect_runtime(environment.context, *config);
    cuda.connect_driver(environment.context, *config);
  }
  Fact<FreeAndTotal> reading =
      mem_get_info(environment.context, cuda, device, CurrentDevice::kPreserve);
  if (const Failure* failure = failure_of(reading)) return to_value(info, *failure);
  std::tie(out[0], out[1]) = std::get<FreeAndTotal>(reading);
  return info.Env().Null();
}

Napi::Value SimulatedMachine(const Napi::CallbackInfo& info) {
  const Fact<std::string> machine = environment_of(info).host().machine();
  const auto* name = std::get_if<std::string>(&machine);
  return name && name->empty() ? info.Env().Null() : to_value(info, machine);
}

Napi::Value MachineVariables(const Napi::CallbackInfo& info) {
  return to_value(info, *environment_of(info).config());
}

Napi::Value EnterMachine(const Napi::CallbackInfo& info) {
  return to_value(info,
                  environment_of(info).enter(make_machine_config(text(info, 1), text(info, 0))));
}

Napi::Value SimBoot(const Napi::CallbackInfo& info) {
  return to_value(info, boot_machine(text(info, 0), text(info, 1), text(info, 2)));
}

Napi::Value SimRecord(const Napi::CallbackInfo& info) {
  return to_value(info, record_machine(text(info, 0), text(info, 1)));
}

}  // namespace umaprobe

// Readings: the host, CUDA, NVML, and which machine this is.
#include "cuda/mem_get_info.h"
#include "host/meminfo.h"
#include "js/calls.h"
#include "machine/simulator.h"

namespace umaprobe {

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

namespace {

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

}  // namespace

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

}  // namespace umaprobe

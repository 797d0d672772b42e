// Readings of the host, CUDA and NVML, and the machine that they come from.
#include "cuda/mem_get_info.h"
#include "host/free_pages.h"
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
  double* out = float64_array(info, 0, kMeminfoFields);
  Environment& environment = environment_of(info);
  // A file that hangs on a thread of its own would hang here as well, and JavaScript with it.
  if (auto hung = environment.hung_file("read /proc/meminfo")) return to_value(info, *hung);
  return to_value(info, read_meminfo(environment.host(), out));
}

Napi::Value ParseMeminfo(const Napi::CallbackInfo& info) {
  double* out = float64_array(info, 1, kMeminfoFields);
  const std::string meminfo = text(info, 0);
  parse_meminfo(meminfo, out);
  return to_value(info, check_total(meminfo, out));
}

Napi::Value ParseCpuLists(const Napi::CallbackInfo& info) {
  const auto page_size = static_cast<double>(environment_of(info).host().page_size());
  return to_value(info, parse_cpu_lists(text(info, 0), page_size));
}

namespace {

std::vector<std::string> paths(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsArray()) throw_type_error(info, index, "an array of strings");
  const auto list = info[index].As<Napi::Array>();
  std::vector<std::string> found(list.Length());
  for (uint32_t i = 0; i < list.Length(); ++i) {
    const Napi::Value path = list[i];
    if (!path.IsString()) throw_type_error(info, index, "an array of strings");
    found[i] = path.As<Napi::String>();
  }
  return found;
}

// Returns element `at` of an array of numbers: the bytes of a file that are read.
size_t bytes_at(const Napi::CallbackInfo& info, size_t index, size_t at) {
  constexpr int32_t kMaxBytes = 1 << 20;
  napi_value element = nullptr;
  int32_t bytes = 0;
  if (napi_get_element(info.Env(), info[index], static_cast<uint32_t>(at), &element) != napi_ok ||
      napi_get_value_int32(info.Env(), element, &bytes) != napi_ok)
    throw_type_error(info, index, "an array with a number for each path");
  return static_cast<size_t>(std::clamp(bytes, 1, kMaxBytes));
}

template <class T>
struct FileJob {
  std::string call;
  std::function<Fact<T>(Host&)> read;
};

// Readings of files on the threads for files. The value is a list with a fact for each.
template <class T>
Part files_part(Environment& environment, std::vector<FileJob<T>> readings,
                std::chrono::milliseconds limit) {
  struct Answers {
    std::vector<Maybe<T>> facts;
    CallThreads::Failures failures;
  };
  auto answers = std::make_shared<Shared<Answers>>();
  answers->update([&](Answers& made) {
    made.facts.resize(readings.size());
    made.failures.resize(readings.size());
  });
  auto make_value = [answers](napi_env env, const std::optional<Failure>& not_started) {
    return answers->read([&](const Answers& made) {
      napi_value list = nullptr;
      napi_create_array_with_length(env, made.facts.size(), &list);
      for (uint32_t i = 0; i < made.facts.size(); ++i) {
        const napi_value value = made.facts[i] ? to_js(env, *made.facts[i])
                                 : not_started ? to_js(env, *not_started)
                                               : to_js(env, *made.failures[i]);
        napi_set_element(env, list, i, value);
      }
      return list;
    });
  };
  auto start = [answers, limit, files = environment.jobs().files, host = environment.shared_host(),
                readings = std::move(readings)](Done done) mutable {
    std::vector<CallThreads::Call> calls;
    for (size_t i = 0; i < readings.size(); ++i) {
      calls.push_back(
          {std::move(readings[i].call), [answers, i, host, read = std::move(readings[i].read)] {
             Fact<T> fact = read(*host);
             answers->update([&](Answers& a) { a.facts[i] = std::move(fact); });
           }});
    }
    files->submit(std::move(calls), limit,
                  [answers, done = std::move(done)](CallThreads::Failures&& failures) {
                    answers->update([&](Answers& a) { a.failures = std::move(failures); });
                    done(std::nullopt);
                  });
  };
  return {std::move(start), std::move(make_value)};
}

Napi::Value submit_part(const Napi::CallbackInfo& info, Part part) {
  return submit(info.Env(), environment_of(info).jobs().promises, std::move(part));
}

std::string read_call(const std::string& path) { return "read " + path; }

}  // namespace

Napi::Value ReadFiles(const Napi::CallbackInfo& info) {
  Environment& environment = environment_of(info);
  std::vector<Fact<std::string>> texts;
  for (const std::string& path : paths(info, 0)) {
    auto hung = environment.hung_file(read_call(path));
    texts.push_back(hung ? std::move(*hung) : read_file(environment.host(), path));
  }
  return to_value(info, texts);
}

Napi::Value ReadFilesWithin(const Napi::CallbackInfo& info) {
  const auto limit = timeout(info, 1);
  std::vector<FileJob<std::string>> readings;
  for (std::string& path : paths(info, 0)) {
    std::string call = read_call(path);
    readings.push_back(
        {std::move(call), [path = std::move(path)](Host& host) { return read_file(host, path); }});
  }
  return submit_part(info, files_part(environment_of(info), std::move(readings), limit));
}

namespace {

// The files of two arguments: paths, and how much of each is read.
std::vector<FileJob<std::string>> kept_files(const Napi::CallbackInfo& info, size_t index) {
  std::vector<FileJob<std::string>> readings;
  for (std::string& path : paths(info, index)) {
    const size_t bytes = bytes_at(info, index + 1, readings.size());
    std::string call = read_call(path);
    readings.push_back({std::move(call), [bytes, path = std::move(path)](Host& host) {
                          return reread_file(host, path, bytes);
                        }});
  }
  return readings;
}

}  // namespace

Napi::Value RereadFilesWithin(const Napi::CallbackInfo& info) {
  return submit_part(info, files_part(environment_of(info), kept_files(info, 0), timeout(info, 2)));
}

Napi::Value ListDirectoryWithin(const Napi::CallbackInfo& info) {
  std::string path = text(info, 0);
  const auto limit = timeout(info, 1);
  std::string call = "list " + path;
  std::vector<FileJob<std::vector<std::string>>> readings;
  readings.push_back({std::move(call),
                      [path = std::move(path)](Host& host) { return list_directory(host, path); }});
  return submit_part(info, files_part(environment_of(info), std::move(readings), limit));
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

Part cuda_part(Environment& environment, MemGetInfoMode mode, int known,
               std::chrono::milliseconds limit) {
  Jobs& jobs = environment.jobs();
  auto report = std::make_shared<Shared<CudaReport>>();
  auto work = [report, mode, known, reader = jobs.cuda, config = environment.config()](
                  CallContext& context) { reader->read(context, *config, mode, known, *report); };
  return part_of(jobs.workers, WorkerId::kCuda, limit, std::move(work), value_of_report(report));
}

Part nvml_part(Environment& environment, std::chrono::milliseconds limit) {
  Jobs& jobs = environment.jobs();
  auto report = std::make_shared<Shared<NvmlReport>>();
  auto work = [report, reader = jobs.nvml, config = environment.config()](CallContext& context) {
    reader->read(context, *config, *report);
  };
  return part_of(jobs.workers, WorkerId::kNvml, limit, std::move(work), value_of_report(report));
}

MemGetInfoMode mode_at(const Napi::CallbackInfo& info, size_t index) {
  return static_cast<MemGetInfoMode>(std::clamp(integer(info, index), 0, 2));
}

Fact<Numbers> read_counters(Host& host) {
  Numbers numbers;
  numbers.values.resize(kMeminfoFields);
  if (auto failure = read_meminfo(host, numbers.values.data())) return std::move(*failure);
  return numbers;
}

}  // namespace

Napi::Value ReadCuda(const Napi::CallbackInfo& info) {
  const int known = info.Length() > 2 ? integer(info, 2) : 0;
  return submit_part(info,
                     cuda_part(environment_of(info), mode_at(info, 0), known, timeout(info, 1)));
}

Napi::Value ReadNvml(const Napi::CallbackInfo& info) {
  return submit_part(info, nvml_part(environment_of(info), timeout(info, 0)));
}

Napi::Value ReadCpuLists(const Napi::CallbackInfo& info) {
  std::vector<FileJob<double>> lists{{read_call("/proc/zoneinfo"), read_cpu_lists}};
  return submit_part(info, files_part(environment_of(info), std::move(lists), timeout(info, 0)));
}

Napi::Value ReadMachine(const Napi::CallbackInfo& info) {
  Environment& environment = environment_of(info);
  const auto limit = timeout(info, 2);
  const auto files_limit = timeout(info, 5);
  std::vector<FileJob<Numbers>> meminfo{{read_call("/proc/meminfo"), read_counters}};
  std::vector<Part> parts;
  parts.push_back(files_part(environment, std::move(meminfo), files_limit));
  parts.push_back(files_part(environment, kept_files(info, 3), files_limit));
  parts.push_back(nvml_part(environment, limit));
  parts.push_back(cuda_part(environment, mode_at(info, 0), integer(info, 1), limit));
  return submit(info.Env(), environment.jobs().promises, std::move(parts));
}

Napi::Value MemGetInfo(const Napi::CallbackInfo& info) {
  const int device = integer(info, 0);
  const auto limit = timeout(info, 1);
  Environment& environment = environment_of(info);
  Jobs& jobs = environment.jobs();
  return promise_of(
      info.Env(), jobs.promises, jobs.workers, WorkerId::kCuda, limit,
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

Napi::Value SimHold(const Napi::CallbackInfo& info) {
  Environment& environment = environment_of(info);
  if (!info[0].IsNumber()) throw_type_error(info, 0, "a number");
  const double bytes = info[0].As<Napi::Number>().DoubleValue();
  if (!(bytes >= 0 && bytes < 0x1p53)) throw_type_error(info, 0, "a number of bytes");
  return to_value(info, environment.held.hold(environment.host(), static_cast<size_t>(bytes)));
}

Napi::Value TimeScale(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), environment_of(info).host().time_scale());
}

}  // namespace umaprobe

// The page cache: walks, evictions, mappings; and the kernel's ways to free memory.
#include "js/calls.h"
#include "js/path_text.h"
#include "pagecache/mappings.h"
#include "pagecache/resolve.h"
#include "runtime/time_slices.h"

namespace umaprobe {
namespace {

template <class Work>
Napi::Promise on_worker(const Napi::CallbackInfo& info, WorkerId worker,
                        std::chrono::milliseconds limit, Work work) {
  Jobs& jobs = environment_of(info).jobs();
  return promise_of(info.Env(), jobs.promises, jobs.workers, worker, limit, std::move(work));
}

// Empty on the real machine; a simulated one has no files.
std::optional<Failure> no_files_failure(const Napi::CallbackInfo& info, const char* call) {
  const Fact<std::string> machine = environment_of(info).host().machine();
  if (const Failure* failure = failure_of(machine)) return *failure;
  if (std::get<std::string>(machine).empty()) return std::nullopt;
  return Failure{"sim", call, std::nullopt, "NOT_SUPPORTED",
                 "a simulated machine has no files: its page cache is a number"};
}

std::string path_argument(const Napi::CallbackInfo& info, size_t index, const Napi::Value& value) {
  if (!value.IsString()) throw_type_error(info, index, "an array of strings");
  return path_of_utf16(value.As<Napi::String>());
}

WalkOptions walk_options(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsObject()) throw_type_error(info, index, "an object");
  const auto given = info[index].As<Napi::Object>();
  const std::string mode = given.Get("mode").ToString();
  const bool forced = given.Get("method").ToString().Utf8Value() == "mincore";
  const Napi::Value given_top = given.Get("top");
  const size_t top = given_top.IsNumber() ? given_top.As<Napi::Number>().Uint32Value() : SIZE_MAX;
  return {forced ? CacheMethod::kMincore : cache_method(), mode != "status", mode == "evict-sync",
          given.Get("listEmpty").ToBoolean(), top};
}

}  // namespace

Napi::Value CacheWalk(const Napi::CallbackInfo& info) {
  if (!info[0].IsArray()) throw_type_error(info, 0, "an array of strings");
  const auto list = info[0].As<Napi::Array>();
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < list.Length(); ++i) paths.push_back(path_argument(info, 0, list[i]));
  const WalkOptions options = walk_options(info, 1);
  if (const auto failure = no_files_failure(info, "cacheWalk")) return to_value(info, *failure);
  Environment& environment = environment_of(info);
  const uint32_t id = ++environment.last_walk;
  environment.walks.emplace(id, std::make_shared<Walk>(std::move(paths), options));
  return to_value(info, id);
}

Napi::Value CacheNext(const Napi::CallbackInfo& info) {
  const auto id = static_cast<uint32_t>(integer(info, 0));
  Environment& environment = environment_of(info);
  const auto found = environment.walks.find(id);
  if (found == environment.walks.end()) {
    auto deferred = Napi::Promise::Deferred::New(info.Env());
    deferred.Resolve(to_value(info, Failure{"umaprobe", "cacheNext", EINVAL, "EINVAL",
                                            "unknown walk " + std::to_string(id)}));
    return deferred.Promise();
  }
  const auto walk = found->second;
  auto work = [walk, slice = timeout(info, 1)](CallContext& context) {
    walk->run_slice(context, slice);
  };
  auto make_value = [walk, id, &environment](napi_env env,
                                             const std::optional<Failure>& timed_out) {
    if (timed_out) {
      Failure failure = *timed_out;
      failure.message += ", at " + walk->path();
      return to_js(env, failure);
    }
    const WalkBatch batch = walk->take();
    if (batch.done) environment.walks.erase(id);
    return to_js(env, batch);
  };
  Jobs& jobs = environment.jobs();
  return submit(info.Env(), jobs.promises,
                part_of(jobs.workers, WorkerId::kFiles, timeout(info, 2), work, make_value));
}

Napi::Value CacheEnd(const Napi::CallbackInfo& info) {
  Environment& environment = environment_of(info);
  const auto found = environment.walks.find(static_cast<uint32_t>(integer(info, 0)));
  if (found != environment.walks.end()) {
    found->second->cancel();
    environment.walks.erase(found);
  }
  return info.Env().Undefined();
}

Napi::Value ResolvePath(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw_type_error(info, 0, "a string");
  return on_worker(info, WorkerId::kFiles, timeout(info, 1),
                   [path = path_of_utf16(info[0].As<Napi::String>())](CallContext& context) {
                     return resolve_path(context, path);
                   });
}

Napi::Value FindMappings(const Napi::CallbackInfo& info) {
  // This thread only copies: indexing 100,000 pairs took 0.2 s.
  const double* first = float64_array(info, 0, 0);
  const size_t length = info[0].As<Napi::Float64Array>().ElementLength() / 2 * 2;
  const auto pairs = std::make_shared<const std::vector<double>>(first, first + length);
  const auto failure = no_files_failure(info, "mappings");
  return on_worker(info, WorkerId::kHost, timeout(info, 1),
                   [pairs, failure](CallContext& context) -> Fact<Mappings> {
                     if (failure) return *failure;
                     Inodes wanted;
                     wanted.reserve(pairs->size() / 2);
                     for (size_t i = 0; i < pairs->size(); i += 2)
                       wanted[(*pairs)[i + 1]].push_back((*pairs)[i]);
                     return find_mappings(context, wanted);
                   });
}

Napi::Value SyncAll(const Napi::CallbackInfo& info) {
  return on_worker(info, WorkerId::kSync, timeout(info, 0),
                   [config = environment_of(info).config()](CallContext& context) -> Fact<Timing> {
                     const std::unique_ptr<Host> host = open_host(*config);
                     context.enter("sync");
                     const auto since = Clock::now();
                     const int status = host->sync();
                     if (status == 0) return Timing{milliseconds_since(since)};
                     Failure failure = read_failure(*host, "sync", -status);
                     failure.call = "sync";
                     return failure;
                   });
}

Napi::Value WriteFile(const Napi::CallbackInfo& info) {
  return on_worker(info, WorkerId::kHost, timeout(info, 2),
                   [config = environment_of(info).config(), path = text(info, 0),
                    data = text(info, 1)](CallContext& context) -> Fact<Timing> {
                     const std::unique_ptr<Host> host = open_host(*config);
                     context.enter("write");
                     const auto since = Clock::now();
                     if (auto failure = write_file(*host, path, data)) return std::move(*failure);
                     return Timing{milliseconds_since(since)};
                   });
}

}  // namespace umaprobe

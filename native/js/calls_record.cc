// The recorder.
#include <cerrno>

#include "js/calls.h"

namespace umaprobe {

namespace {

double number(const Napi::Object& given, const char* name) {
  return given.Get(name).ToNumber().DoubleValue();
}

RecorderOptions recorder_options(const Napi::CallbackInfo& info) {
  if (!info[0].IsObject()) throw_type_error(info, 0, "an object");
  const auto given = info[0].As<Napi::Object>();
  RecorderOptions options;
  options.interval_us = static_cast<int>(number(given, "intervalUs"));
  options.frame_us = static_cast<int>(number(given, "frameUs"));
  options.sync_us = static_cast<int>(number(given, "syncUs"));
  options.segments.folder = given.Get("folder").ToString();
  options.segments.folder_fd = static_cast<int>(number(given, "folderFd"));
  options.segments.lock_fd = static_cast<int>(number(given, "lockFd"));
  options.segments.segment_bytes = static_cast<uint64_t>(number(given, "segmentBytes"));
  options.segments.total_bytes = static_cast<uint64_t>(number(given, "totalBytes"));
  options.segments.header = given.Get("header").ToString();
  return options;
}

}  // namespace

Napi::Value RecorderStart(const Napi::CallbackInfo& info) {
  const RecorderOptions options = recorder_options(info);
  Environment& environment = environment_of(info);
  if (environment.recorder && environment.recorder->read().running) {
    return to_value(info,
                    Failure{"umaprobe", "record " + options.segments.folder, EBUSY, "EBUSY",
                            "this process records already, in " + environment.recorder->folder() +
                                "; stop that recorder first"});
  }
  auto started = Recorder::start(options, *environment.config());
  if (const Failure* failure = failure_of(started)) return to_value(info, *failure);
  environment.recorder = std::get<std::shared_ptr<Recorder>>(started);
  return info.Env().Null();
}

Napi::Value RecorderNote(const Napi::CallbackInfo& info) {
  const auto& recorder = environment_of(info).recorder;
  return Napi::Boolean::New(info.Env(), recorder && recorder->note(text(info, 0)));
}

Napi::Value RecorderRead(const Napi::CallbackInfo& info) {
  const auto& recorder = environment_of(info).recorder;
  return to_value(info, recorder ? recorder->read() : RecorderReport{});
}

Napi::Value RecorderReadings(const Napi::CallbackInfo& info) {
  const auto& recorder = environment_of(info).recorder;
  const bool runs = recorder && recorder->read().running;
  return Napi::Number::New(info.Env(),
                           runs ? recorder->readings_for(info[0].ToNumber().Int32Value()) : -1);
}

Napi::Value RecorderStop(const Napi::CallbackInfo& info) {
  if (const auto& recorder = environment_of(info).recorder) recorder->stop();
  return info.Env().Undefined();
}

}  // namespace umaprobe

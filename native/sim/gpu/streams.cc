#include "sim/gpu/streams.h"

#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

constexpr int kInvalidHandle = 400, kNotReady = 600;

int device_for(int device, const Stream* stream) {
  return stream == nullptr ? device : stream->device;
}

}  // namespace

int stream_create(int device, Stream** stream) {
  if (stream == nullptr) return umaprobe::kCudaInvalidValue;
  *stream = new Stream{device};
  return 0;
}

int stream_destroy(Stream* stream) {
  if (stream == nullptr) return kInvalidHandle;
  delete stream;
  return 0;
}

int stream_wait(const Call& call, int device, const Stream* stream) {
  synchronize(call, device_for(device, stream));
  return 0;
}

int stream_query(const Call& call, int device, const Stream* stream) {
  return ready_at(call, device_for(device, stream)) > clock_ms(call.state()) ? kNotReady : 0;
}

int stream_is_capturing(int* status) {
  if (status == nullptr) return umaprobe::kCudaInvalidValue;
  *status = 0;
  return 0;
}

int exchange_capture_mode(int* mode) {
  constexpr int kModes = 3;
  thread_local int current = 0;  // cudaStreamCaptureModeGlobal
  if (mode == nullptr || *mode < 0 || *mode >= kModes) return umaprobe::kCudaInvalidValue;
  std::swap(current, *mode);
  return 0;
}

int event_create(int device, Event** event) {
  if (event == nullptr) return umaprobe::kCudaInvalidValue;
  *event = new Event{device, false, 0};
  return 0;
}

int event_destroy(Event* event) {
  if (event == nullptr) return kInvalidHandle;
  delete event;
  return 0;
}

int event_record(const Call& call, int device, const Stream* stream, Event* event) {
  if (event == nullptr) return kInvalidHandle;
  event->done_ms = enqueue_event(call, device_for(device, stream));
  event->recorded = true;
  return 0;
}

int event_wait(const Call& call, const Event* event) {
  if (event == nullptr) return kInvalidHandle;
  if (event->recorded) wait_until(call, event->done_ms);
  return 0;
}

int event_query(const Call& call, const Event* event) {
  if (event == nullptr) return kInvalidHandle;
  return event->recorded && event->done_ms > clock_ms(call.state()) ? kNotReady : 0;
}

int event_elapsed(const Call& call, const Event* begin, const Event* end, float* ms) {
  if (ms == nullptr) return umaprobe::kCudaInvalidValue;
  if (begin == nullptr || end == nullptr || !begin->recorded || !end->recorded) {
    return kInvalidHandle;
  }
  if (end->done_ms > clock_ms(call.state())) return kNotReady;
  *ms = static_cast<float>(end->done_ms - begin->done_ms);
  return 0;
}

int stream_wait_event(const Event* event) { return event == nullptr ? kInvalidHandle : 0; }

}  // namespace umasim

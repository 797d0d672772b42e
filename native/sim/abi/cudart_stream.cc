// CUDA runtime: streams and events.
#include "sim/abi/cudart.h"
#include "sim/gpu/streams.h"

using namespace umasim;

UMASIM_API cudaError_t cudaStreamCreate(Stream** stream) noexcept {
  return with_context(__func__,
                      [&](const Call&, int device) { return stream_create(device, stream); });
}

UMASIM_API cudaError_t cudaStreamCreateWithFlags(Stream** stream, unsigned int) noexcept {
  return with_context(__func__,
                      [&](const Call&, int device) { return stream_create(device, stream); });
}

UMASIM_API cudaError_t cudaStreamCreateWithPriority(Stream** stream, unsigned int, int) noexcept {
  return with_context(__func__,
                      [&](const Call&, int device) { return stream_create(device, stream); });
}

UMASIM_API cudaError_t cudaStreamDestroy(Stream* stream) noexcept {
  return with_context(__func__, [&](const Call&, int) { return stream_destroy(stream); });
}

UMASIM_API cudaError_t cudaStreamSynchronize(Stream* stream) noexcept {
  return with_context(
      __func__, [&](const Call& call, int device) { return stream_wait(call, device, stream); });
}

UMASIM_API cudaError_t cudaStreamQuery(Stream* stream) noexcept {
  return with_context(
      __func__, [&](const Call& call, int device) { return stream_query(call, device, stream); });
}

UMASIM_API cudaError_t cudaStreamWaitEvent(Stream*, Event* event, unsigned int) noexcept {
  return with_context(__func__, [&](const Call&, int) { return stream_wait_event(event); });
}

UMASIM_API cudaError_t cudaStreamIsCapturing(Stream*, int* status) noexcept {
  return runtime(__func__, [&](const Call&) { return stream_is_capturing(status); });
}

UMASIM_API cudaError_t cudaThreadExchangeStreamCaptureMode(int* mode) noexcept {
  return runtime(__func__, [&](const Call&) { return exchange_capture_mode(mode); });
}

UMASIM_API cudaError_t cudaEventCreate(Event** event) noexcept {
  return with_context(__func__,
                      [&](const Call&, int device) { return event_create(device, event); });
}

UMASIM_API cudaError_t cudaEventCreateWithFlags(Event** event, unsigned int) noexcept {
  return with_context(__func__,
                      [&](const Call&, int device) { return event_create(device, event); });
}

UMASIM_API cudaError_t cudaEventRecord(Event* event, Stream* stream) noexcept {
  return with_context(__func__, [&](const Call& call, int device) {
    return event_record(call, device, stream, event);
  });
}

UMASIM_API cudaError_t cudaEventSynchronize(Event* event) noexcept {
  return with_context(__func__, [&](const Call& call, int) { return event_wait(call, event); });
}

UMASIM_API cudaError_t cudaEventQuery(Event* event) noexcept {
  return with_context(__func__, [&](const Call& call, int) { return event_query(call, event); });
}

UMASIM_API cudaError_t cudaEventElapsedTime(float* ms, Event* begin, Event* end) noexcept {
  return with_context(__func__,
                      [&](const Call& call, int) { return event_elapsed(call, begin, end, ms); });
}

UMASIM_API cudaError_t cudaEventDestroy(Event* event) noexcept {
  return with_context(__func__, [&](const Call&, int) { return event_destroy(event); });
}

UMASIM_OTHER_STREAM(cudaStreamSynchronize, ptsz);
UMASIM_OTHER_STREAM(cudaStreamQuery, ptsz);
UMASIM_OTHER_STREAM(cudaStreamWaitEvent, ptsz);
UMASIM_OTHER_STREAM(cudaStreamIsCapturing, ptsz);
UMASIM_OTHER_STREAM(cudaEventRecord, ptsz);

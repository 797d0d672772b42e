// CUDA driver: streams and events.
#include "sim/abi/cudrv.h"
#include "sim/gpu/streams.h"

using namespace umasim;

UMASIM_API CUresult cuStreamCreate(Stream** stream, unsigned int) noexcept {
  return in_context(__func__,
                    [&](const Call&, int device) { return stream_create(device, stream); });
}

UMASIM_API CUresult cuStreamCreateWithPriority(Stream** stream, unsigned int, int) noexcept {
  return in_context(__func__,
                    [&](const Call&, int device) { return stream_create(device, stream); });
}

UMASIM_API CUresult cuStreamDestroy_v2(Stream* stream) noexcept {
  return in_context(__func__, [&](const Call&, int) { return stream_destroy(stream); });
}

UMASIM_API CUresult cuStreamSynchronize(Stream* stream) noexcept {
  return in_context(
      __func__, [&](const Call& call, int device) { return stream_wait(call, device, stream); });
}

UMASIM_API CUresult cuStreamQuery(Stream* stream) noexcept {
  return in_context(
      __func__, [&](const Call& call, int device) { return stream_query(call, device, stream); });
}

UMASIM_API CUresult cuStreamWaitEvent(Stream*, Event* event, unsigned int) noexcept {
  return in_context(__func__, [&](const Call&, int) { return stream_wait_event(event); });
}

UMASIM_API CUresult cuStreamIsCapturing(Stream*, int* status) noexcept {
  return in_context(__func__, [&](const Call&, int) { return stream_is_capturing(status); });
}

UMASIM_API CUresult cuThreadExchangeStreamCaptureMode(int* mode) noexcept {
  return driver(__func__, [&](const Call&) { return exchange_capture_mode(mode); });
}

UMASIM_API CUresult cuEventCreate(Event** event, unsigned int) noexcept {
  return in_context(__func__, [&](const Call&, int device) { return event_create(device, event); });
}

UMASIM_API CUresult cuEventRecord(Event* event, Stream* stream) noexcept {
  return in_context(__func__, [&](const Call& call, int device) {
    return event_record(call, device, stream, event);
  });
}

UMASIM_API CUresult cuEventSynchronize(Event* event) noexcept {
  return in_context(__func__, [&](const Call& call, int) { return event_wait(call, event); });
}

UMASIM_API CUresult cuEventQuery(Event* event) noexcept {
  return in_context(__func__, [&](const Call& call, int) { return event_query(call, event); });
}

UMASIM_API CUresult cuEventElapsedTime(float* ms, Event* begin, Event* end) noexcept {
  return in_context(__func__,
                    [&](const Call& call, int) { return event_elapsed(call, begin, end, ms); });
}

UMASIM_API CUresult cuEventDestroy_v2(Event* event) noexcept {
  return in_context(__func__, [&](const Call&, int) { return event_destroy(event); });
}

UMASIM_OTHER_STREAM(cuStreamSynchronize, ptsz);
UMASIM_OTHER_STREAM(cuStreamQuery, ptsz);
UMASIM_OTHER_STREAM(cuStreamWaitEvent, ptsz);
UMASIM_OTHER_STREAM(cuStreamIsCapturing, ptsz);
UMASIM_OTHER_STREAM(cuEventRecord, ptsz);

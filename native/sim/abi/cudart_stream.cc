// CUDA runtime: streams and events. All streams of a process on a device share one queue. An event
// is the time at which all work queued before it is done.
#include "sim/abi/cudart.h"
#include "sim/gpu/device_queue.h"

namespace umasim {
namespace {

struct CudaStream {
  int device;
};

struct CudaEvent {
  int device;
  bool recorded;
  double done_ms;
};

cudaError_t make_stream(const char* name, CudaStream** stream) {
  return with_context(name, [&](const Call&, int device) {
    if (stream == nullptr) return int{umaprobe::kCudaInvalidValue};
    *stream = new CudaStream{device};
    return 0;
  });
}

cudaError_t make_event(const char* name, CudaEvent** event) {
  return with_context(name, [&](const Call&, int device) {
    if (event == nullptr) return int{umaprobe::kCudaInvalidValue};
    *event = new CudaEvent{device, false, 0};
    return 0;
  });
}

constexpr int kInvalidHandle = 400, kNotReady = 600;

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API cudaError_t cudaStreamCreate(CudaStream** stream) noexcept {
  return make_stream("cudaStreamCreate", stream);
}

UMASIM_API cudaError_t cudaStreamCreateWithFlags(CudaStream** stream, unsigned int) noexcept {
  return make_stream("cudaStreamCreateWithFlags", stream);
}

UMASIM_API cudaError_t cudaStreamDestroy(CudaStream* stream) noexcept {
  return with_context("cudaStreamDestroy", [&](const Call&, int) {
    if (stream == nullptr) return kInvalidHandle;
    delete stream;
    return 0;
  });
}

UMASIM_API cudaError_t cudaStreamSynchronize(CudaStream* stream) noexcept {
  return with_context("cudaStreamSynchronize", [&](const Call& call, int device) {
    synchronize(call, stream == nullptr ? device : stream->device);
    return 0;
  });
}

UMASIM_API cudaError_t cudaStreamQuery(CudaStream* stream) noexcept {
  return with_context("cudaStreamQuery", [&](const Call& call, int device) {
    const int on = stream == nullptr ? device : stream->device;
    return ready_at(call, on) > clock_ms(call.state()) ? kNotReady : 0;
  });
}

UMASIM_API cudaError_t cudaEventCreate(CudaEvent** event) noexcept {
  return make_event("cudaEventCreate", event);
}

UMASIM_API cudaError_t cudaEventCreateWithFlags(CudaEvent** event, unsigned int) noexcept {
  return make_event("cudaEventCreateWithFlags", event);
}

UMASIM_API cudaError_t cudaEventRecord(CudaEvent* event, CudaStream* stream) noexcept {
  return with_context("cudaEventRecord", [&](const Call& call, int device) {
    if (event == nullptr) return kInvalidHandle;
    event->done_ms = enqueue_event(call, stream == nullptr ? device : stream->device);
    event->recorded = true;
    return 0;
  });
}

UMASIM_API cudaError_t cudaEventSynchronize(CudaEvent* event) noexcept {
  return with_context("cudaEventSynchronize", [&](const Call& call, int) {
    if (event == nullptr) return kInvalidHandle;
    if (event->recorded) wait_until(call, event->done_ms);
    return 0;
  });
}

UMASIM_API cudaError_t cudaEventQuery(CudaEvent* event) noexcept {
  return with_context("cudaEventQuery", [&](const Call& call, int) {
    if (event == nullptr) return kInvalidHandle;
    return event->recorded && event->done_ms > clock_ms(call.state()) ? kNotReady : 0;
  });
}

// In milliseconds of the simulated clock.
UMASIM_API cudaError_t cudaEventElapsedTime(float* ms, CudaEvent* begin, CudaEvent* end) noexcept {
  return with_context("cudaEventElapsedTime", [&](const Call& call, int) {
    if (ms == nullptr) return int{umaprobe::kCudaInvalidValue};
    if (begin == nullptr || end == nullptr || !begin->recorded || !end->recorded) {
      return kInvalidHandle;
    }
    if (end->done_ms > clock_ms(call.state())) return kNotReady;
    *ms = static_cast<float>(end->done_ms - begin->done_ms);
    return 0;
  });
}

UMASIM_API cudaError_t cudaEventDestroy(CudaEvent* event) noexcept {
  return with_context("cudaEventDestroy", [&](const Call&, int) {
    if (event == nullptr) return kInvalidHandle;
    delete event;
    return 0;
  });
}

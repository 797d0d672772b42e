// Streams and events of CUDA, shared by runtime and driver. All streams of a process on a device
// share one queue. An event is the time at which all work queued before it is done. Each function
// returns a cudaError_t; the CUresult has the same value.
#pragma once
#include "sim/gpu/contexts.h"

namespace umasim {

struct Stream {
  int device;
};

struct Event {
  int device;
  bool recorded;
  double done_ms;
};

int stream_create(int device, Stream** stream);
int stream_destroy(Stream* stream);
// `device` is the current one, whose default stream a null stream is.
int stream_wait(const Call& call, int device, const Stream* stream);
int stream_query(const Call& call, int device, const Stream* stream);

// Tells whether the stream is being captured into a graph: no, because graphs are not modelled.
int stream_is_capturing(int* status);
// Exchanges the mode of this thread (0 to 2) that says which calls a capture elsewhere forbids.
int exchange_capture_mode(int* mode);

int event_create(int device, Event** event);
int event_destroy(Event* event);
int event_record(const Call& call, int device, const Stream* stream, Event* event);
int event_wait(const Call& call, const Event* event);
int event_query(const Call& call, const Event* event);
// Sets `ms` to milliseconds of the simulated clock.
int event_elapsed(const Call& call, const Event* begin, const Event* end, float* ms);
// Does nothing: work that is queued later waits for all that is queued now.
int stream_wait_event(const Event* event);

}  // namespace umasim

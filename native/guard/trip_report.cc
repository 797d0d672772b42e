#include "guard/trip_report.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace umaprobe {
namespace {

// A JSON number or null.
struct Json {
  explicit Json(const std::optional<double>& value) {
    if (value) std::snprintf(text, sizeof text, "%.15g", *value);
  }
  char text[32] = "null";
};

}  // namespace

int TripReporter::open(int fd) {
  descriptor_ = Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  return descriptor_ ? 0 : errno;
}

// A stalled reader must not block the guard. A writable pipe takes PIPE_BUF bytes at once, and the
// line is shorter.
void TripReporter::write(const GuardTrip& trip, Clock::time_point tripped_at, bool exited) const {
  if (!descriptor_) return;
  pollfd ready{descriptor_.get(), POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) return;
  const std::chrono::duration<double, std::milli> at = tripped_at.time_since_epoch();
  char line[512];
  const int length =
      std::snprintf(line, sizeof line,
                    "{\"reason\":\"%s\",\"available\":%s,\"pressureFull\":%s,\"stoppedAfterMs\":%s,"
                    "\"freedAfterMs\":%s,\"atMs\":%.6f,\"left\":%s}\n",
                    trip.reason, Json(trip.available).text, Json(trip.pressureFull).text,
                    Json(trip.stoppedAfterMs).text, Json(trip.freedAfterMs).text, at.count(),
                    exited ? "true" : "false");
  // A failed write is ignored, as there is no other channel. Node ignores SIGPIPE.
  if (::write(descriptor_.get(), line, static_cast<size_t>(length)) < 0) return;
}

}  // namespace umaprobe

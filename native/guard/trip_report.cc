#include "guard/trip_report.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/json_line.h"

namespace umaprobe {

int TripReporter::open(int fd) {
  descriptor_ = Descriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  return descriptor_ ? 0 : errno;
}

// A stalled reader must not block the guard. A writable pipe takes PIPE_BUF bytes at once, and the
// line is shorter.
void TripReporter::write(const ProbeTrip& trip) const {
  if (!descriptor_) return;
  pollfd ready{descriptor_.get(), POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT)) return;
  JsonLine line;
  trip.visit(line);
  const std::string_view text = line.line();
  // A failed write is ignored, as there is no other channel. Node ignores SIGPIPE.
  if (::write(descriptor_.get(), text.data(), text.size()) < 0) return;
}

}  // namespace umaprobe

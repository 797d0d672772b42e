#include "run/supervisor/report.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace umaprobe {
namespace {

ActionLine line_of(const Action& action) {
  const Reading& reading = action.reading;
  ActionLine line;
  line.at = action.at;
  line.action = action.action;
  line.reason = action.reason;
  line.dry_run = action.dry_run;
  line.target = action.target[0] == '\0' ? nullptr : action.target;
  line.failure = action.error == 0 ? nullptr : std::strerror(action.error);
  line.evidence.available = reading.available;
  line.evidence.free = reading.free;
  line.evidence.free_in_cpu_lists = reading.free_in_cpu_lists;
  line.evidence.slope = action.slope;
  line.evidence.seconds_to_floor = action.seconds_to_floor;
  line.evidence.pressure_full = reading.pressure;
  line.evidence.free_blocks = reading.free_blocks;
  line.evidence.swap_free = reading.swap_free;
  line.evidence.group_bytes = reading.held.group;
  line.evidence.group_gpu_bytes = reading.held.group_gpu;
  line.evidence.others_grew_bytes = action.others_grew;
  return line;
}

}  // namespace

void iso_time(char (&text)[32]) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ",
                static_cast<int>(now.tv_nsec / 1'000'000));
}

Report::Report(int fd) : fd_(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
  if (fd <= 2 || !fd_) return;
  // This end of the pipe belongs to the guard alone; stdout may be the user's.
  ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  ::close(fd);
}

bool Report::flush() {
  while (rest_size_ > 0) {
    const ssize_t count = ::write(fd_.get(), rest_.data(), rest_size_);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    rest_size_ -= static_cast<size_t>(count);
    std::memmove(rest_.data(), rest_.data() + count, rest_size_);
  }
  return true;
}

void Report::send(JsonLine& line) {
  if (!flush()) return;
  rest_size_ = line.line().copy(rest_.data(), rest_.size());
  flush();
}

void Report::leave() {
  fd_.close();
  log_ = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/dev/log");
  if (::connect(log_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    log_.close();
}

void Report::action(const Action& action) {
  if (log_) {
    constexpr int kDaemonWarning = LOG_DAEMON | LOG_WARNING;
    char text[256];
    const int length = std::snprintf(
        text, sizeof text,
        "<%d>umaprobe-guard[%d]: %s to what a guarded program left: %s, %.0f MiB", kDaemonWarning,
        ::getpid(), action.action, action.reason, action.reading.left() / kMiB);
    ::send(log_.get(), text, static_cast<size_t>(length), MSG_NOSIGNAL);
  }
  actions_[action_count_++ % kKept] = action;
  write(line_of(action));
}

void Report::ended(EndedLine line) {
  std::array<char, 20480> list;
  size_t size = 0;
  list[size++] = '[';
  for (size_t i = action_count_ > kKept ? action_count_ - kKept : 0; i < action_count_; ++i) {
    JsonLine entry = json_of(line_of(actions_[i % kKept]));
    std::string_view text = entry.line();
    text.remove_suffix(1);
    if (size + text.size() + 2 > list.size()) break;
    if (size > 1) list[size++] = ',';
    size += text.copy(list.data() + size, text.size());
  }
  list[size++] = ']';
  line.actions = {list.data(), size};
  send_last(json_of(line));
}

void Report::send_last(JsonLine line) {
  if (!fd_) return;
  constexpr int kPatienceMs = 200;
  pollfd ready{fd_.get(), POLLOUT, 0};
  const auto flushed = [&] {
    while (!flush()) {
      if (errno != EAGAIN || ::poll(&ready, 1, kPatienceMs) != 1) return false;
    }
    return true;
  };
  if (!flushed()) return;
  send(line);
  flushed();
}

}  // namespace umaprobe

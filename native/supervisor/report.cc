#include "supervisor/report.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace umaprobe {
namespace {

void evidence(JsonLine& line, const Action& action) {
  const Reading& reading = action.reading;
  line.text("at", action.at)
      .text("action", action.action)
      .text("reason", action.reason)
      .boolean("dryRun", action.dry_run)
      .text("target", action.target[0] == '\0' ? nullptr : action.target)
      .text("failure", action.error == 0 ? nullptr : std::strerror(action.error))
      .open("evidence")
      .number("available", reading.available)
      .number("free", reading.free)
      .number("slope", action.slope)
      .number("secondsToFloor", action.seconds_to_floor, 3)
      .number("pressureFull", reading.pressure, 2)
      .number("freeBlocks", reading.free_blocks)
      .number("swapFree", reading.swap_free)
      .number("poolBytes", reading.pool)
      .number("groupBytes", reading.group)
      .number("groupGpuBytes", reading.group_gpu)
      .close();
}

}  // namespace

JsonLine::JsonLine(std::string_view event) {
  append("{\"event\":\"%.*s\"", static_cast<int>(event.size()), event.data());
}

// Room for "}\n" stays.
void JsonLine::append(const char* format, ...) {
  const size_t room = text_.size() - 2 - size_;
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text_.data() + size_, room, format, arguments);
  va_end(arguments);
  if (length < 0 || static_cast<size_t>(length) >= room) return;
  size_ += static_cast<size_t>(length);
  comma_ = ",";
}

JsonLine& JsonLine::text(const char* key, const char* value) {
  if (!value) return raw(key, "null");
  char escaped[512];
  size_t size = 0;
  for (; *value != '\0' && size < sizeof escaped - 8; ++value) {
    const auto c = static_cast<unsigned char>(*value);
    if (c == '"' || c == '\\') escaped[size++] = '\\';
    if (c < 0x20) {
      size += static_cast<size_t>(std::snprintf(escaped + size, 7, "\\u%04x", c));
    } else {
      escaped[size++] = static_cast<char>(c);
    }
  }
  append("%s\"%s\":\"%.*s\"", comma_, key, static_cast<int>(size), escaped);
  return *this;
}

JsonLine& JsonLine::number(const char* key, double value, int decimals) {
  if (!std::isfinite(value)) return raw(key, "null");
  append("%s\"%s\":%.*f", comma_, key, decimals, value);
  return *this;
}

JsonLine& JsonLine::boolean(const char* key, bool value) {
  return raw(key, value ? "true" : "false");
}

JsonLine& JsonLine::raw(const char* key, std::string_view json) {
  append("%s\"%s\":%.*s", comma_, key, static_cast<int>(json.size()), json.data());
  return *this;
}

JsonLine& JsonLine::open(const char* key) {
  append("%s\"%s\":{", comma_, key);
  comma_ = "";
  return *this;
}

JsonLine& JsonLine::close() {
  append("}");
  return *this;
}

std::string_view JsonLine::line() {
  text_[size_] = '}';
  text_[size_ + 1] = '\n';
  return {text_.data(), size_ + 2};
}

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
  // This end of the pipe is ours alone; stdout may be the user's.
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

void Report::write(JsonLine& line) {
  if (!fd_ || !flush()) return;
  rest_size_ = line.line().copy(rest_.data(), rest_.size());
  flush();
}

void Report::action(const Action& action) {
  actions_[action_count_++ % kKept] = action;
  JsonLine line("action");
  evidence(line, action);
  write(line);
}

void Report::ended(JsonLine& line) {
  if (!fd_) return;
  std::array<char, 20480> list;
  size_t size = 0;
  list[size++] = '[';
  for (size_t i = action_count_ > kKept ? action_count_ - kKept : 0; i < action_count_; ++i) {
    JsonLine entry("action");
    evidence(entry, actions_[i % kKept]);
    std::string_view text = entry.line();
    text.remove_suffix(1);
    if (size + text.size() + 2 > list.size()) break;
    if (size > 1) list[size++] = ',';
    size += text.copy(list.data() + size, text.size());
  }
  list[size++] = ']';
  line.raw("actions", {list.data(), size});
  constexpr int kPatienceMs = 200;
  pollfd ready{fd_.get(), POLLOUT, 0};
  while (!flush()) {
    if (errno != EAGAIN || ::poll(&ready, 1, kPatienceMs) != 1) return;
  }
  write(line);
  while (!flush()) {
    if (errno != EAGAIN || ::poll(&ready, 1, kPatienceMs) != 1) return;
  }
}

}  // namespace umaprobe

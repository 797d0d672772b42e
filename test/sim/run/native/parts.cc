// Parts of the native code, each alone, in states into which no caller brings them.

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "guard/stall_detector.h"
#include "pagecache/maps_text.h"
#include "run/record/segments.h"
#include "run/supervisor/processes.h"

namespace {

// The call that fails; empty: none.
std::string refused;

// Prints the call with the name of its file.
bool is_refused(const char* call, int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  const std::string full(path, length > 0 ? static_cast<size_t>(length) : 0);
  const std::string line = std::string(call) + " " + full.substr(full.rfind('/') + 1);
  std::puts(line.c_str());
  if (line != refused) return false;
  errno = EIO;
  return true;
}

}  // namespace

// In place of those of libc.
extern "C" {
int fsync(int fd) { return is_refused("fsync", fd) ? -1 : 0; }
int fdatasync(int fd) { return is_refused("fdatasync", fd) ? -1 : 0; }
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  if (is_refused("write", fd)) return -1;
  return ::syscall(SYS_pwrite64, fd, bytes, size, at);
}
}

namespace umaprobe {
namespace {

bool is_good(const char* what, const std::optional<Failure>& failed) {
  std::printf("%s: %s\n", what, failed ? (failed->call + " " + failed->name).c_str() : "done");
  return !failed;
}

int record(const char* folder) {
  Segments::Options options;
  options.folder = "folder";
  options.folder_fd = ::open(folder, O_RDONLY | O_DIRECTORY);
  options.lock_fd = ::open((std::string(folder) + "/lock").c_str(), O_RDWR | O_CREAT, 0600);
  options.segment_bytes = 1u << 20;
  options.total_bytes = 4u << 20;
  options.header = "{\"session\":\"parts\"";
  Segments segments(options);
  if (!is_good("open", segments.open())) return 0;
  is_good("append", segments.append(std::string(1000, 'x')));
  segments.close();
  return 0;
}

// Readings "seconds available pressure", of a call that takes memory: the seconds at which it is a
// stall.
int stalls(const char* floor, char** readings) {
  ProbeRules rules;
  rules.floor_bytes = std::atof(floor);
  rules.pressure_full_percent = 10;
  StallDetector detector(rules);
  for (; *readings; ++readings) {
    double now = 0, available = 0, pressure = 0;
    std::sscanf(*readings, "%lf %lf %lf", &now, &available, &pressure);
    if (detector.stalled(now, available, pressure, true)) std::printf("%g\n", now);
  }
  return 0;
}

int run(const std::string& part, char** words) {
  if (part == "stalls") return stalls(words[0], words + 1);
  if (part == "record") {
    if (words[1]) refused = words[1];
    return record(words[0]);
  }
  if (part == "unescaped") {
    std::fputs(unescaped(words[0]).c_str(), stdout);
    return 0;
  }
  // A process by its pid, with a start time that differs by so much.
  Processes::Member process = Processes::now(std::atoi(words[0]));
  process.started += static_cast<uint64_t>(std::atoi(words[1]));
  std::printf("%d", Processes::signal(process, std::atoi(words[2])));
  return 0;
}

}  // namespace
}  // namespace umaprobe

int main(int, char** words) { return umaprobe::run(words[1], words + 2); }

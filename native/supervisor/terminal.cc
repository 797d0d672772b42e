#include "supervisor/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "base/small_file.h"

namespace umaprobe {

Terminal::Terminal(bool wanted, pid_t parent, pid_t job)
    : fd_(wanted ? ::open("/dev/tty", O_RDWR | O_CLOEXEC) : -1), parent_(parent), job_(job) {
  if (fd_ && ::tcgetattr(fd_.get(), &modes_) != 0) fd_.close();
}

// SIGTTOU is blocked, so these calls are allowed to a process in the background.
void Terminal::give(pid_t group) const {
  if (fd_ && ::tcgetpgrp(fd_.get()) == job_) ::tcsetpgrp(fd_.get(), group);
}

void Terminal::take_back(pid_t group) const {
  if (fd_ && ::tcgetpgrp(fd_.get()) == group) ::tcsetpgrp(fd_.get(), job_);
}

void Terminal::restore() const {
  if (fd_) ::tcsetattr(fd_.get(), TCSADRAIN, &modes_);
}

void Terminal::stop_job(pid_t group, int signal) const {
  if (!fd_) return;
  take_back(group);
  // SIGSTOP was meant for one process, the others for all that the terminal runs.
  ::kill(signal == SIGSTOP ? parent_ : -job_, signal);
}

bool Terminal::job_is_stopped() const {
  char path[32], text[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", parent_);
  const std::string_view stat = read_start(path, text, sizeof text);
  const size_t end = stat.rfind(") ");
  return end != std::string_view::npos && stat.substr(end + 2, 1) == "T";
}

}  // namespace umaprobe

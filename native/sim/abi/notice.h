// Explains on stderr, in one line and once per process, why a program cannot work on a simulated
// machine, if its own messages would not.
#pragma once
#include <unistd.h>

#include <atomic>
#include <string>

namespace umasim {

enum class Notice { kOwnRuntime, kManagedVariable };

// Writes "umasim: TEXT".
inline void notice_once(Notice notice, const std::string& text) {
  static std::atomic<bool> given[2];
  if (given[static_cast<int>(notice)].exchange(true)) return;
  const std::string line = "umasim: " + text + "\n";
  // stdio is not used: the program may not have set it up yet, or may hold its lock.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace umasim

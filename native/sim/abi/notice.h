// Explains on stderr, in one line and once per process, why a program cannot work on a simulated
// machine, if its own messages would not.
#pragma once
#include <string>

namespace umasim {

enum class Notice { kOwnRuntime, kManagedVariable };

// Writes "umasim: TEXT".
void notice_once(Notice notice, const std::string& text);

}  // namespace umasim

// One line on stderr, once per process, where a program cannot work on a simulated machine in a way
// that its own messages would not explain.
#pragma once
#include <string>

namespace umasim {

enum class Notice { kOwnRuntime, kManagedVariable };

// Writes "umasim: TEXT".
void notice_once(Notice notice, const std::string& text);

}  // namespace umasim

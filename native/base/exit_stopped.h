#pragma once

namespace umaprobe {

// Exit code of a process that a guard has stopped: "stopped" of the command line.
inline constexpr int kExitStopped = 6;

}  // namespace umaprobe

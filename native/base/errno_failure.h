// A failed system call as a Failure.
#pragma once

#include "base/failure.h"

namespace umaprobe {

// `call` names function and path ("open /proc/meminfo"); `error` is an errno value, positive.
Failure errno_failure(const char* source, const std::string& call, int error);

}  // namespace umaprobe

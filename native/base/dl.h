// dlopen with failures. Libraries are never closed: a thread may still be inside, and libcuda and
// NVML run threads of their own.
#pragma once

#include <string>

#include "base/failure.h"

namespace umaprobe {

// The handle, or LIBRARY_MISSING with the loader's reason. The loader searches for a bare name.
Fact<void*> open_shared_object(const std::string& path);

Failure library_missing(const std::string& call, const std::string& message);

Failure symbol_missing(const std::string& library, const char* symbol);

}  // namespace umaprobe

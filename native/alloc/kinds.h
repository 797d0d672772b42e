// The kinds of memory. A new kind is a row in kinds.cc and a row in lib/types/kinds.ts.
#pragma once

#include <string>

#include "cuda/driver.h"
#include "cuda/runtime.h"
#include "host/host.h"

namespace umaprobe {

// The functions that kinds call. The device's primary context must be current on the thread.
struct AllocatorApi {
  const Cudart* runtime = nullptr;     // null if not usable; then the driver is called
  const CudaDriver* driver = nullptr;  // may be null if there is a runtime
  Host* host = nullptr;
  int device = 0;
};

Fact<int> device_attribute(CallContext& context, const AllocatorApi& api, int attribute);

struct Kind {
  const char* name;
  // All pages are present after the allocation. Otherwise each page appears at its first touch.
  bool eager;
  // Returns the name of the function that allocates, or why the device does not support this kind.
  Fact<std::string> (*supported)(CallContext& context, const AllocatorApi& api);
  std::optional<Failure> (*alloc)(CallContext& context, const AllocatorApi& api, size_t bytes,
                                  void** address);
  // Runs even after a deadline, so that memory is always freed.
  std::optional<Failure> (*free)(CallContext& context, const AllocatorApi& api, void* address,
                                 size_t bytes);
};

// The rows of the table in kinds.cc, in the order of the report.
struct Kinds {
  const Kind* first;
  const Kind* last;
  const Kind* begin() const { return first; }
  const Kind* end() const { return last; }
};
Kinds all_kinds();

}  // namespace umaprobe

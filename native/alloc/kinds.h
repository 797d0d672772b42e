// The kinds of memory, a row each: whether a device has it, what is called for it, how it is given
// back. A new kind is a new row, and its name in lib/types/probe.ts.
#pragma once

#include <iterator>
#include <string_view>

#include "cuda/driver.h"
#include "cuda/runtime.h"
#include "host/host.h"

namespace umaprobe {

// What kinds allocate with: the device's primary context is current on this thread.
struct AllocatorApi {
  const Cudart* runtime = nullptr;  // null: none is usable, and the driver's functions are called
  const CudaDriver* driver = nullptr;  // may be null where there is a runtime
  Host* host = nullptr;
  int device = 0;
};

Fact<int> device_attribute(CallContext& context, const AllocatorApi& api, int attribute);

struct Kind {
  const char* name;
  // All of the memory is there once it is allocated; else each page comes with its first touch.
  bool eager;
  // The function that is called, or why this kind cannot be had here.
  Fact<std::string> (*supported)(CallContext& context, const AllocatorApi& api);
  std::optional<Failure> (*alloc)(CallContext& context, const AllocatorApi& api, size_t bytes,
                                  void** address);
  // Also after a deadline: memory is always given back.
  std::optional<Failure> (*free)(CallContext& context, const AllocatorApi& api, void* address,
                                 size_t bytes);
};

inline constexpr size_t kKindCount = 4;
extern const Kind kKinds[kKindCount];

// Null: there is no such kind.
const Kind* find_kind(std::string_view name);

}  // namespace umaprobe

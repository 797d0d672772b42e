#include "alloc/kinds.h"

#include <cerrno>

#include "base/failure.h"

namespace umaprobe {
namespace {

using With = AllocatorLibraries;
using Error = std::optional<Failure>;

CUdeviceptr device_address(void* address) { return reinterpret_cast<uintptr_t>(address); }

// The name of a function that is there.
template <class Table, class Signature>
Fact<std::string> named(const Table& table, const Symbol<Signature>& symbol) {
  if (!symbol) return symbol_missing(table.library.path, symbol.name);
  return std::string(symbol.name);
}

// The kind where the device's attribute is not 0.
template <class Supported>
Fact<std::string> where(Flight& flight, const With& with, int attribute, const char* name,
                        Supported supported) {
  const Fact<int> value = device_attribute(flight, with, attribute);
  if (const Failure* failure = failure_of(value)) return *failure;
  if (std::get<int>(value) != 0) return supported();
  return Failure{with.runtime ? "cudart" : "cuda",
                 with.runtime ? "cudaDeviceGetAttribute" : "cuDeviceGetAttribute", std::nullopt,
                 "NOT_SUPPORTED", std::string("the device's attribute ") + name + " is 0"};
}

Fact<std::string> device_supported(Flight&, const With& with) {
  return with.runtime ? named(*with.runtime, with.runtime->cudaMalloc)
                      : named(*with.driver, with.driver->cuMemAlloc_v2);
}

Error device_alloc(Flight& flight, const With& with, size_t bytes, void** address) {
  if (with.runtime) return ask(flight, *with.runtime, with.runtime->cudaMalloc, address, bytes);
  CUdeviceptr at = 0;
  Error failure = ask(flight, *with.driver, with.driver->cuMemAlloc_v2, &at, bytes);
  *address = reinterpret_cast<void*>(static_cast<uintptr_t>(at));
  return failure;
}

Error device_free(Flight& flight, const With& with, void* address, size_t) {
  if (with.runtime) return ask_late(flight, *with.runtime, with.runtime->cudaFree, address);
  return ask_late(flight, *with.driver, with.driver->cuMemFree_v2, device_address(address));
}

Fact<std::string> managed_supported(Flight& flight, const With& with) {
  return where(flight, with, kAttrManagedMemory, "managedMemory", [&] {
    return with.runtime ? named(*with.runtime, with.runtime->cudaMallocManaged)
                        : named(*with.driver, with.driver->cuMemAllocManaged);
  });
}

Error managed_alloc(Flight& flight, const With& with, size_t bytes, void** address) {
  if (with.runtime) {
    return ask(flight, *with.runtime, with.runtime->cudaMallocManaged, address, bytes,
               kMemAttachGlobal);
  }
  CUdeviceptr at = 0;
  Error failure =
      ask(flight, *with.driver, with.driver->cuMemAllocManaged, &at, bytes, kMemAttachGlobal);
  *address = reinterpret_cast<void*>(static_cast<uintptr_t>(at));
  return failure;
}

// Under unified addressing, which every 64-bit Linux has, the device reaches it at the same
// address.
Fact<std::string> pinned_supported(Flight& flight, const With& with) {
  return where(flight, with, kAttrCanMapHostMemory, "canMapHostMemory", [&] {
    return with.runtime ? named(*with.runtime, with.runtime->cudaHostAlloc)
                        : named(*with.driver, with.driver->cuMemHostAlloc);
  });
}

Error pinned_alloc(Flight& flight, const With& with, size_t bytes, void** address) {
  if (with.runtime)
    return ask(flight, *with.runtime, with.runtime->cudaHostAlloc, address, bytes,
               kHostAllocMapped);
  return ask(flight, *with.driver, with.driver->cuMemHostAlloc, address, bytes, kHostAllocMapped);
}

Error pinned_free(Flight& flight, const With& with, void* address, size_t) {
  if (with.runtime) return ask_late(flight, *with.runtime, with.runtime->cudaFreeHost, address);
  return ask_late(flight, *with.driver, with.driver->cuMemFreeHost, address);
}

Fact<std::string> system_supported(Flight& flight, const With& with) {
  return where(flight, with, kAttrPageableMemoryAccess, "pageableMemoryAccess",
               [] { return Fact<std::string>(std::string("mmap")); });
}

Error system_alloc(Flight& flight, const With& with, size_t bytes, void** address) {
  flight.enter("mmap");
  *address = with.kernel->map(bytes);
  if (*address) return std::nullopt;
  return errno_failure("kernel", "mmap", errno);
}

Error system_free(Flight& flight, const With& with, void* address, size_t bytes) {
  flight.enter("munmap");
  with.kernel->unmap(address, bytes);
  return std::nullopt;
}

}  // namespace

const Kind kKinds[kKindCount] = {
    {"device", /*eager=*/true, device_supported, device_alloc, device_free},
    {"managed", /*eager=*/false, managed_supported, managed_alloc, device_free},
    {"pinned", /*eager=*/true, pinned_supported, pinned_alloc, pinned_free},
    {"system", /*eager=*/false, system_supported, system_alloc, system_free},
};

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

Fact<int> device_attribute(Flight& flight, const With& with, int attribute) {
  int value = 0;
  if (with.runtime) {
    auto failure = ask(flight, *with.runtime, with.runtime->cudaDeviceGetAttribute, &value,
                       attribute, with.device);
    return fact(failure, value);
  }
  CUdevice device = 0;
  auto failure = ask(flight, *with.driver, with.driver->cuDeviceGet, &device, with.device);
  if (!failure) {
    failure =
        ask(flight, *with.driver, with.driver->cuDeviceGetAttribute, &value, attribute, device);
  }
  return fact(failure, value);
}

}  // namespace umaprobe

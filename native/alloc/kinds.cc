#include "alloc/kinds.h"

#include <cerrno>
#include <iterator>

#include "base/failure.h"

namespace umaprobe {
namespace {

using Error = std::optional<Failure>;

CUdeviceptr device_address(void* address) { return reinterpret_cast<uintptr_t>(address); }

// The name of `symbol` if the library has it.
template <class Table, class Signature>
Fact<std::string> symbol_name(const Table& table, const Symbol<Signature>& symbol) {
  if (!symbol) return symbol_missing(table.library.path, symbol.name);
  return std::string(symbol.name);
}

// Returns supported() if the device attribute is not 0, and otherwise the failure.
template <class Supported>
Fact<std::string> if_attribute(CallContext& context, const AllocatorApi& api, int attribute,
                               const char* name, Supported supported) {
  const Fact<int> value = device_attribute(context, api, attribute);
  if (const Failure* failure = failure_of(value)) return *failure;
  if (std::get<int>(value) != 0) return supported();
  return Failure{api.runtime ? "cudart" : "cuda",
                 api.runtime ? "cudaDeviceGetAttribute" : "cuDeviceGetAttribute", std::nullopt,
                 "NOT_SUPPORTED", std::string("the device's attribute ") + name + " is 0"};
}

Fact<std::string> device_supported(CallContext&, const AllocatorApi& api) {
  return api.runtime ? symbol_name(*api.runtime, api.runtime->cudaMalloc)
                     : symbol_name(*api.driver, api.driver->cuMemAlloc_v2);
}

Error device_alloc(CallContext& context, const AllocatorApi& api, size_t bytes, void** address) {
  if (api.runtime) return call(context, *api.runtime, api.runtime->cudaMalloc, address, bytes);
  CUdeviceptr at = 0;
  Error failure = call(context, *api.driver, api.driver->cuMemAlloc_v2, &at, bytes);
  *address = reinterpret_cast<void*>(static_cast<uintptr_t>(at));
  return failure;
}

Error device_free(CallContext& context, const AllocatorApi& api, void* address, size_t) {
  if (api.runtime) return call_always(context, *api.runtime, api.runtime->cudaFree, address);
  return call_always(context, *api.driver, api.driver->cuMemFree_v2, device_address(address));
}

Fact<std::string> managed_supported(CallContext& context, const AllocatorApi& api) {
  return if_attribute(context, api, kAttrManagedMemory, "managedMemory", [&] {
    return api.runtime ? symbol_name(*api.runtime, api.runtime->cudaMallocManaged)
                       : symbol_name(*api.driver, api.driver->cuMemAllocManaged);
  });
}

Error managed_alloc(CallContext& context, const AllocatorApi& api, size_t bytes, void** address) {
  if (api.runtime) {
    return call(context, *api.runtime, api.runtime->cudaMallocManaged, address, bytes,
                kMemAttachGlobal);
  }
  CUdeviceptr at = 0;
  Error failure =
      call(context, *api.driver, api.driver->cuMemAllocManaged, &at, bytes, kMemAttachGlobal);
  *address = reinterpret_cast<void*>(static_cast<uintptr_t>(at));
  return failure;
}

// The device uses the same address: every 64-bit Linux has unified addressing.
Fact<std::string> pinned_supported(CallContext& context, const AllocatorApi& api) {
  return if_attribute(context, api, kAttrCanMapHostMemory, "canMapHostMemory", [&] {
    return api.runtime ? symbol_name(*api.runtime, api.runtime->cudaHostAlloc)
                       : symbol_name(*api.driver, api.driver->cuMemHostAlloc);
  });
}

Error pinned_alloc(CallContext& context, const AllocatorApi& api, size_t bytes, void** address) {
  if (api.runtime)
    return call(context, *api.runtime, api.runtime->cudaHostAlloc, address, bytes,
                kHostAllocMapped);
  return call(context, *api.driver, api.driver->cuMemHostAlloc, address, bytes, kHostAllocMapped);
}

Error pinned_free(CallContext& context, const AllocatorApi& api, void* address, size_t) {
  if (api.runtime) return call_always(context, *api.runtime, api.runtime->cudaFreeHost, address);
  return call_always(context, *api.driver, api.driver->cuMemFreeHost, address);
}

Fact<std::string> system_supported(CallContext& context, const AllocatorApi& api) {
  return if_attribute(context, api, kAttrPageableMemoryAccess, "pageableMemoryAccess",
                      [] { return Fact<std::string>(std::string("mmap")); });
}

Error system_alloc(CallContext& context, const AllocatorApi& api, size_t bytes, void** address) {
  context.enter("mmap");
  *address = api.host->map(bytes);
  if (*address) return std::nullopt;
  return errno_failure("kernel", "mmap", errno);
}

Error system_free(CallContext& context, const AllocatorApi& api, void* address, size_t bytes) {
  context.enter("munmap");
  api.host->unmap(address, bytes);
  return std::nullopt;
}

constexpr Kind kKinds[] = {
    {"device", /*eager=*/true, device_supported, device_alloc, device_free},
    {"managed", /*eager=*/false, managed_supported, managed_alloc, device_free},
    {"pinned", /*eager=*/true, pinned_supported, pinned_alloc, pinned_free},
    {"system", /*eager=*/false, system_supported, system_alloc, system_free},
};

}  // namespace

Kinds all_kinds() { return {std::begin(kKinds), std::end(kKinds)}; }

Fact<int> device_attribute(CallContext& context, const AllocatorApi& api, int attribute) {
  int value = 0;
  if (api.runtime) {
    auto failure = call(context, *api.runtime, api.runtime->cudaDeviceGetAttribute, &value,
                        attribute, api.device);
    return fact(failure, value);
  }
  CUdevice device = 0;
  auto failure = call(context, *api.driver, api.driver->cuDeviceGet, &device, api.device);
  if (!failure) {
    failure =
        call(context, *api.driver, api.driver->cuDeviceGetAttribute, &value, attribute, device);
  }
  return fact(failure, value);
}

}  // namespace umaprobe

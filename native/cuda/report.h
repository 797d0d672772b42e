// What the CUDA and NVML readings are made of, and the box they are published in.
//
// Each struct names its fields to a visitor as lib/native.types.ts names them: field(name, value)
// leaves out what was not reached, field.nullable(name, value) says null.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "abi/cuda.h"
#include "base/failure.h"

namespace umaprobe {

// A value that one thread fills fact by fact while another may look: a reading that hangs at its
// third call keeps the first two. The lock is held for a move or a copy only, never during a
// library call.
template <class T>
class Published {
 public:
  template <class Change>
  void update(Change change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change(value_);
  }

  template <class Look>
  auto look(Look look) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return look(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

struct LibraryReport {
  std::optional<std::string> path;
  std::optional<Failure> failure;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("path", path);
    field("failure", failure);
  }
};

struct AttributeRow {
  const char* name;  // as DeviceAttribute in lib/types.ts has it
  int number;
};

inline constexpr AttributeRow kAttributes[] = {
    {"integrated", kAttrIntegrated},
    {"managedMemory", kAttrManagedMemory},
    {"concurrentManagedAccess", kAttrConcurrentManagedAccess},
    {"pageableMemoryAccess", kAttrPageableMemoryAccess},
    {"pageableMemoryAccessUsesHostPageTables", kAttrPageableMemoryAccessUsesHostPageTables},
    {"directManagedMemAccessFromHost", kAttrDirectManagedMemAccessFromHost},
    {"hostRegisterSupported", kAttrHostRegisterSupported},
    {"hostRegisterReadOnlySupported", kAttrHostRegisterReadOnlySupported},
    {"canMapHostMemory", kAttrCanMapHostMemory},
    {"unifiedAddressing", kAttrUnifiedAddressing},
    {"memoryPoolsSupported", kAttrMemoryPoolsSupported},
    {"gpuDirectRdmaSupported", kAttrGpuDirectRdmaSupported},
    {"dmaBufSupported", kAttrDmaBufSupported},
    {"l2CacheSize", kAttrL2CacheSize},
    {"multiProcessorCount", kAttrMultiProcessorCount},
    {"globalMemoryBusWidth", kAttrGlobalMemoryBusWidth},
    {"memoryClockRateKHz", kAttrMemoryClockRate},
    {"clockRateKHz", kAttrClockRate},
    {"asyncEngineCount", kAttrAsyncEngineCount},
    {"hostNumaId", kAttrHostNumaId},
};
inline constexpr size_t kAttributeCount = std::size(kAttributes);

struct CudaAttributes {
  std::array<Maybe<double>, kAttributeCount> values;
  Maybe<double> totalGlobalMem;

  template <class Visitor>
  void visit(Visitor& field) const {
    for (size_t i = 0; i < kAttributeCount; ++i) field(kAttributes[i].name, values[i]);
    field("totalGlobalMem", totalGlobalMem);
  }
};

// What does not change while the process lives.
struct CudaIdentity {
  Maybe<std::string> name;
  Maybe<std::string> uuid;
  Maybe<std::string> pciBusId;
  Maybe<std::string> computeCapability;
  Maybe<double> totalMem;
  CudaAttributes attributes;
};

using FreeAndTotal = std::pair<double, double>;

struct CudaDevice {
  int ordinal = 0;
  CudaIdentity identity;
  Maybe<bool> contextActive;
  Maybe<FreeAndTotal> memGetInfo;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("ordinal", ordinal);
    field("name", identity.name);
    field("uuid", identity.uuid);
    field("pciBusId", identity.pciBusId);
    field("computeCapability", identity.computeCapability);
    field("totalMem", identity.totalMem);
    field("contextActive", contextActive);
    field("memGetInfo", memGetInfo);
    field("attributes", identity.attributes);
  }
};

struct CudaReport {
  LibraryReport runtime;
  LibraryReport driver;
  Maybe<int> runtimeVersion;
  Maybe<int> driverVersion;
  Maybe<int> deviceCount;
  std::vector<CudaDevice> devices;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("runtime", runtime);
    field("driver", driver);
    field("runtimeVersion", runtimeVersion);
    field("driverVersion", driverVersion);
    field("deviceCount", deviceCount);
    field("devices", devices);
  }
};

struct NvmlMemory {
  double total;
  double free;
  double used;
  std::optional<double> reserved;  // v1 does not know it
  const char* call;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("total", total);
    field("free", free);
    field("used", used);
    field.nullable("reserved", reserved);
    field("call", std::string(call));
  }
};

struct NvmlProcess {
  unsigned int pid;
  std::optional<double> gpuBytes;  // empty: the driver cannot tell

  template <class Visitor>
  void visit(Visitor& field) const {
    field("pid", pid);
    field.nullable("gpuBytes", gpuBytes);
  }
};

struct NvmlIdentity {
  Maybe<std::string> name;
  Maybe<std::string> uuid;
  Maybe<std::string> pciBusId;
};

struct NvmlDevice {
  unsigned int index = 0;
  NvmlIdentity identity;
  Maybe<NvmlMemory> memory;
  Maybe<std::vector<NvmlProcess>> processes;
  Maybe<int> addressingMode;
  Maybe<std::pair<int, int>> migMode;
  Maybe<double> utilizationPercent;
  Maybe<double> temperatureC;
  Maybe<double> powerMilliwatt;
  Maybe<double> smClockMHz;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("index", index);
    field("name", identity.name);
    field("uuid", identity.uuid);
    field("pciBusId", identity.pciBusId);
    field("memory", memory);
    field("processes", processes);
    field("addressingMode", addressingMode);
    field("migMode", migMode);
    field("utilizationPercent", utilizationPercent);
    field("temperatureC", temperatureC);
    field("powerMilliwatt", powerMilliwatt);
    field("smClockMHz", smClockMHz);
  }
};

struct NvmlReport {
  LibraryReport library;
  Maybe<std::string> driverVersion;
  Maybe<std::string> nvmlVersion;
  Maybe<int> cudaDriverVersion;
  Maybe<int> deviceCount;
  std::vector<NvmlDevice> devices;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("library", library);
    field("driverVersion", driverVersion);
    field("nvmlVersion", nvmlVersion);
    field("cudaDriverVersion", cudaDriverVersion);
    field("deviceCount", deviceCount);
    field("devices", devices);
  }
};

}  // namespace umaprobe

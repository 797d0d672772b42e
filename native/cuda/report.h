// The report of a CUDA reading.
//
// Each struct names its fields to a visitor as lib/core/native/contract.ts names them:
// field(name, value) leaves out an unset value, field.nullable(name, value) reports it as null.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "abi/cuda.h"
#include "base/failure.h"
#include "base/library_report.h"

namespace umaprobe {

struct AttributeRow {
  const char* name;
  int number;
};

inline constexpr AttributeRow kAttributes[] = {
#define X(name, number, ...) {#name, number},
    UMAPROBE_CUDA_ATTRIBUTES(X)
#undef X
};
inline constexpr size_t kAttributeCount = std::size(kAttributes);

struct CudaAttributes {
  std::array<Maybe<double>, kAttributeCount> values;
  Maybe<double> totalGlobalMem;

  bool any() const {
    return totalGlobalMem ||
           std::any_of(values.begin(), values.end(), [](const auto& value) { return !!value; });
  }

  template <class Visitor>
  void visit(Visitor& field) const {
    for (size_t i = 0; i < kAttributeCount; ++i) field(kAttributes[i].name, values[i]);
    field("totalGlobalMem", totalGlobalMem);
  }
};

// Facts that do not change while the process lives.
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
    if (identity.attributes.any()) field("attributes", identity.attributes);
  }
};

struct CudaReport {
  LibraryReport runtime;
  LibraryReport driver;
  Maybe<int> runtimeVersion;
  Maybe<int> driverVersion;
  Maybe<int> deviceCount;
  // Number of this reading of identities, from 1; 0: one of them is not complete.
  int identities = 0;
  std::vector<CudaDevice> devices;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("runtime", runtime);
    field("driver", driver);
    field("runtimeVersion", runtimeVersion);
    field("driverVersion", driverVersion);
    field("deviceCount", deviceCount);
    field("identities", identities);
    field("devices", devices);
  }
};

}  // namespace umaprobe

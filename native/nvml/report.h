// The report of an NVML reading.
//
// Each struct names its fields to a visitor as lib/core/native/contract.ts names them:
// field(name, value) leaves out an unset value, field.nullable(name, value) reports it as null.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/failure.h"
#include "base/library_report.h"
#include "nvml/numbers.h"

namespace umaprobe {

struct NvmlMemory {
  double total;
  double free;
  double used;
  std::optional<double> reserved;  // empty from the v1 call
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
  std::optional<double> gpuBytes;  // empty if the driver cannot tell

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
#define X(name, ...) Maybe<double> name;
  UMAPROBE_NVML_NUMBERS(X)
#undef X

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
#define X(name, ...) field(#name, name);
    UMAPROBE_NVML_NUMBERS(X)
#undef X
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

// Opens and initializes the CUDA runtime and driver without creating a context.
#pragma once

#include "cuda/driver.h"
#include "cuda/report.h"
#include "cuda/runtime.h"

namespace umaprobe {

// One thread uses it. A library that works is kept; one that failed is tried again by the next
// connect.
class CudaConnection {
 public:
  void connect_runtime(CallContext& context, const MachineConfig& config);
  void connect_driver(CallContext& context, const MachineConfig& config);
  // Connects the runtime, or the driver if the runtime is not usable.
  void connect_any(CallContext& context, const MachineConfig& config);
  bool usable() const { return runtime_ready_ || driver_ready_; }

  // Both return null if the library is not usable; the report says why. If there is no device,
  // neither library is usable, but both are reported without a failure: the failure belongs to
  // device_count().
  const Cudart* runtime() const { return runtime_ready_ ? runtime_ : nullptr; }
  const CudaDriver* driver() const { return driver_ready_ ? driver_ : nullptr; }

  const LibraryReport& runtime_report() const { return runtime_report_; }
  const LibraryReport& driver_report() const { return driver_report_; }
  const Maybe<int>& runtime_version() const { return runtime_version_; }
  const Maybe<int>& driver_version() const { return driver_version_; }
  // Returns the driver's number if it has answered, otherwise the runtime's, otherwise the failure.
  Fact<int> device_count() const;
  // Returns why driver() is null.
  Failure driver_failure() const;

 private:
  const Cudart* runtime_ = nullptr;
  const CudaDriver* driver_ = nullptr;
  bool runtime_ready_ = false;
  bool driver_ready_ = false;
  LibraryReport runtime_report_;
  LibraryReport driver_report_;
  Maybe<int> runtime_version_;
  Maybe<int> driver_version_;
  Maybe<int> runtime_count_;
  Maybe<int> driver_count_;
};

}  // namespace umaprobe

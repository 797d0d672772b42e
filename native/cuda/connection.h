// The CUDA runtime and driver, opened and started without creating a context.
#pragma once

#include "cuda/driver.h"
#include "cuda/report.h"
#include "cuda/runtime.h"

namespace umaprobe {

// Belongs to one thread. What works is kept; what does not is tried again by the next connect.
class CudaConnection {
 public:
  void connect_runtime(CallContext& context, const MachineConfig& config);
  void connect_driver(CallContext& context, const MachineConfig& config);
  // One of them is enough: the runtime, else the driver.
  void connect_any(CallContext& context, const MachineConfig& config);
  bool usable() const { return runtime_ready_ || driver_ready_; }

  // Null: not usable, and the report says why. A machine without a device has no usable library
  // either, but both are reported as sound: the failure is that of the count.
  const Cudart* runtime() const { return runtime_ready_ ? runtime_ : nullptr; }
  const CudaDriver* driver() const { return driver_ready_ ? driver_ : nullptr; }

  const LibraryReport& runtime_report() const { return runtime_report_; }
  const LibraryReport& driver_report() const { return driver_report_; }
  const Maybe<int>& runtime_version() const { return runtime_version_; }
  const Maybe<int>& driver_version() const { return driver_version_; }
  // The driver's answer where there is one, else the runtime's, else why neither could say.
  Fact<int> device_count() const;
  // Why driver() is null.
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

#include "cuda/connection.h"

namespace umaprobe {
namespace {

// "No device" comes from a working library. Any other failure of its first call (34: a stub, 35:
// the driver is missing or too old) means that the library was found but cannot be used.
std::optional<Failure> unless_no_device(const Failure& failure) {
  if (failure.status == kCudaNoDevice) return std::nullopt;
  return failure;
}

}  // namespace

void CudaConnection::connect_runtime(CallContext& context, const MachineConfig& config) {
  if (runtime_ready_) return;
  if (!runtime_) {
    context.enter("dlopen libcudart");
    Fact<const Cudart*> opened = open_cudart(config);
    if (const Failure* failure = failure_of(opened)) {
      runtime_report_.failure = *failure;
      return;
    }
    runtime_ = std::get<const Cudart*>(opened);
    runtime_report_.path = runtime_->library.path;
  }
  int version = 0;
  auto failure = call(context, *runtime_, runtime_->cudaRuntimeGetVersion, &version);
  runtime_version_ = fact(failure, version);
  int count = 0;
  failure = call(context, *runtime_, runtime_->cudaGetDeviceCount, &count);
  runtime_ready_ = !failure;
  runtime_report_.failure = failure ? unless_no_device(*failure) : std::nullopt;
  runtime_count_ = fact(failure, count);
}

void CudaConnection::connect_driver(CallContext& context, const MachineConfig& config) {
  if (driver_ready_) return;
  if (!driver_) {
    context.enter("dlopen libcuda");
    Fact<const CudaDriver*> opened = open_cuda_driver(config);
    if (const Failure* failure = failure_of(opened)) {
      driver_report_.failure = *failure;
      return;
    }
    driver_ = std::get<const CudaDriver*>(opened);
    driver_report_.path = driver_->library.path;
  }
  int version = 0;
  auto failure = call(context, *driver_, driver_->cuDriverGetVersion, &version);
  driver_version_ = fact(failure, version);
  int count = 0;
  failure = call(context, *driver_, driver_->cuInit, 0u);
  if (!failure) failure = call(context, *driver_, driver_->cuDeviceGetCount, &count);
  driver_ready_ = !failure;
  driver_report_.failure = failure ? unless_no_device(*failure) : std::nullopt;
  driver_count_ = fact(failure, count);
}

void CudaConnection::connect_any(CallContext& context, const MachineConfig& config) {
  if (usable()) return;
  connect_runtime(context, config);
  if (!usable()) connect_driver(context, config);
}

Fact<int> CudaConnection::device_count() const {
  if (driver_ready_) return *driver_count_;
  if (runtime_ready_) return *runtime_count_;
  if (driver_count_) return *driver_count_;
  if (runtime_count_) return *runtime_count_;
  return driver_failure();
}

Failure CudaConnection::driver_failure() const {
  return driver_count_ ? std::get<Failure>(*driver_count_) : *driver_report_.failure;
}

}  // namespace umaprobe

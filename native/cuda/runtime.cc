#include "cuda/runtime.h"

#include "base/failure.h"

namespace umaprobe {
namespace {

constexpr StatusName kRuntimeNames[] = {
    {kCudaInvalidValue, "cudaErrorInvalidValue"},
    {kCudaOutOfMemory, "cudaErrorMemoryAllocation"},
    {kCudaNotInitialized, "cudaErrorInitializationError"},
    {kCudaStubLibrary, "cudaErrorStubLibrary"},
    {kCudaInsufficientDriver, "cudaErrorInsufficientDriver"},
    {kCudaCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver"},
    {kCudaDevicesUnavailable, "cudaErrorDevicesUnavailable"},
    {kCudaNoDevice, "cudaErrorNoDevice"},
    {kCudaInvalidDevice, "cudaErrorInvalidDevice"},
    {kCudaNotLicensed, "cudaErrorDeviceNotLicensed"},
    {kCudaInvalidContext, "cudaErrorDeviceUninitialized"},
    {kCudaEccUncorrectable, "cudaErrorECCUncorrectable"},
    {kCudaNvlinkUncorrectable, "cudaErrorNvlinkUncorrectable"},
    {kCudaOperatingSystem, "cudaErrorOperatingSystem"},
    {kCudaIllegalAddress, "cudaErrorIllegalAddress"},
    {kCudaLaunchFailed, "cudaErrorLaunchFailure"},
    {kCudaNotFound, "cudaErrorSymbolNotFound"},
    {kCudaNotPermitted, "cudaErrorNotPermitted"},
    {kCudaNotSupported, "cudaErrorNotSupported"},
    {kCudaSystemNotReady, "cudaErrorSystemNotReady"},
    {kCudaSystemDriverMismatch, "cudaErrorSystemDriverMismatch"},
    {kCudaCompatNotSupported, "cudaErrorCompatNotSupportedOnDevice"},
    {kCudaMpsConnectionFailed, "cudaErrorMpsConnectionFailed"},
    {kCudaMpsRpcFailure, "cudaErrorMpsRpcFailure"},
    {kCudaMpsServerNotReady, "cudaErrorMpsServerNotReady"},
    {kCudaMpsMaxClients, "cudaErrorMpsMaxClientsReached"},
    {kCudaMpsMaxConnections, "cudaErrorMpsMaxConnectionsReached"},
    {kCudaUnknown, "cudaErrorUnknown"},
};

}  // namespace

Cudart::Cudart(Library opened) : library(std::move(opened)) {
#define X(name, signature) library.bind(name);
  UMAPROBE_CUDART_FUNCTIONS(X)
#undef X
}

Failure Cudart::failure(const char* call, int status) const {
  const char* explanation = cudaGetErrorString ? cudaGetErrorString.function(status) : nullptr;
  // A failed call leaves a sticky error, which the next kernel launch on this thread would report.
  if (cudaGetLastError) cudaGetLastError.function();
  return status_failure("cudart", call, status, status_name(kRuntimeNames, status, "cudaError_"),
                        explanation);
}

Fact<const Cudart*> open_cudart(const MachineConfig& config) {
  return OpenOnce<Cudart>::instance().get(config, [&] {
    // The newest comes first. 11.0 is the soname of every 11.x.
    return open_library("cudart", config, config.cudart,
                        {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"});
  });
}

}  // namespace umaprobe

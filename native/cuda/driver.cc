#include "cuda/driver.h"

#include "base/failure.h"

namespace umaprobe {
namespace {

constexpr StatusName kDriverNames[] = {
    {kCudaInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
    {kCudaOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {kCudaNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
    {kCudaStubLibrary, "CUDA_ERROR_STUB_LIBRARY"},
    {kCudaCallRequiresNewerDriver, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    {kCudaDevicesUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {kCudaNoDevice, "CUDA_ERROR_NO_DEVICE"},
    {kCudaInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
    {kCudaNotLicensed, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
    {kCudaInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
    {kCudaEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {kCudaNvlinkUncorrectable, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {kCudaOperatingSystem, "CUDA_ERROR_OPERATING_SYSTEM"},
    {kCudaIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {kCudaLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
    {kCudaNotFound, "CUDA_ERROR_NOT_FOUND"},
    {kCudaNotPermitted, "CUDA_ERROR_NOT_PERMITTED"},
    {kCudaNotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
    {kCudaSystemNotReady, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {kCudaSystemDriverMismatch, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {kCudaCompatNotSupported, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {kCudaMpsConnectionFailed, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    {kCudaMpsRpcFailure, "CUDA_ERROR_MPS_RPC_FAILURE"},
    {kCudaMpsServerNotReady, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {kCudaMpsMaxClients, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    {kCudaMpsMaxConnections, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    {kCudaUnknown, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

CudaDriver::CudaDriver(Library opened) : library(std::move(opened)) {
#define X(name, signature) library.bind(name);
  UMAPROBE_CUDA_FUNCTIONS(X)
#undef X
}

Failure CudaDriver::failure(const char* call, int status) const {
  const char* explanation = nullptr;
  if (cuGetErrorString) cuGetErrorString.function(status, &explanation);
  return status_failure("cuda", call, status, status_name(kDriverNames, status, "CUDA_ERROR_"),
                        explanation);
}

Fact<const CudaDriver*> open_cuda_driver(const MachineConfig& config) {
  // The second path is WSL's; its folder is not always in the loader's cache.
  return OpenOnce<CudaDriver>::instance().get(config, [&] {
    return open_library("cuda", config, config.cuda,
                        {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"});
  });
}

}  // namespace umaprobe

#include "nvml/nvml.h"

#include "base/failure.h"

namespace umaprobe {
namespace {

constexpr StatusName kNames[] = {
    {kNvmlUninitialized, "UNINITIALIZED"},
    {kNvmlInvalidArgument, "INVALID_ARGUMENT"},
    {kNvmlNotSupported, "NOT_SUPPORTED"},
    {kNvmlNoPermission, "NO_PERMISSION"},
    {kNvmlNotFound, "NOT_FOUND"},
    {kNvmlInsufficientSize, "INSUFFICIENT_SIZE"},
    {kNvmlDriverNotLoaded, "DRIVER_NOT_LOADED"},
    {kNvmlTimeout, "TIMEOUT"},
    {kNvmlLibraryNotFound, "LIBRARY_NOT_FOUND"},
    {kNvmlFunctionNotFound, "FUNCTION_NOT_FOUND"},
    {kNvmlGpuIsLost, "GPU_IS_LOST"},
    {kNvmlResetRequired, "RESET_REQUIRED"},
    {kNvmlOperatingSystem, "OPERATING_SYSTEM"},
    {kNvmlLibRmVersionMismatch, "LIB_RM_VERSION_MISMATCH"},
    {kNvmlInUse, "IN_USE"},
    {kNvmlMemory, "MEMORY"},
    {kNvmlArgumentVersionMismatch, "ARGUMENT_VERSION_MISMATCH"},
    {kNvmlGpuNotFound, "GPU_NOT_FOUND"},
    {kNvmlUnknown, "UNKNOWN"},
};

OpenOnce<Nvml>& opened() {
  static auto& once = *new OpenOnce<Nvml>;  // outlives static destruction, see Opened
  return once;
}

struct Initialization {
  std::mutex mutex;
  std::atomic<bool> done{false};
};

Initialization& initialization() {
  static auto& state = *new Initialization;
  return state;
}

}  // namespace

Nvml::Nvml(Library opened) : library(std::move(opened)) {
#define X(name, signature) library.bind(name);
  UMAPROBE_NVML_FUNCTIONS(X)
#undef X
}

Failure Nvml::failure(const char* call, int status) const {
  const char* text = nvmlErrorString ? nvmlErrorString.function(status) : nullptr;
  return status_failure("nvml", call, status, status_name(kNames, status, "NVML_ERROR_"), text);
}

Fact<const Nvml*> open_nvml(const MachineConfig& config) {
  // Not libnvidia-ml.so: that name comes with development files only. The second is where WSL
  // mounts the driver.
  return opened().get(config, [&] {
    return open_library("nvml", config, config.nvml,
                        {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"});
  });
}

std::optional<Failure> initialize_nvml(const Nvml& nvml, CallContext& context) {
  Initialization& state = initialization();
  if (state.done.load(std::memory_order_acquire)) return std::nullopt;
  // Whoever waits here for another environment's hanging initialisation is in that call as well.
  context.enter(nvml.nvmlInit_v2.name);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.done.load(std::memory_order_relaxed)) return std::nullopt;
  if (auto failure = call(context, nvml, nvml.nvmlInit_v2)) return failure;
  state.done.store(true, std::memory_order_release);
  return std::nullopt;
}

}  // namespace umaprobe

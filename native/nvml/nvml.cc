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
    {kNvmlInsufficientPower, "INSUFFICIENT_POWER"},
    {kNvmlDriverNotLoaded, "DRIVER_NOT_LOADED"},
    {kNvmlTimeout, "TIMEOUT"},
    {kNvmlIrqIssue, "IRQ_ISSUE"},
    {kNvmlLibraryNotFound, "LIBRARY_NOT_FOUND"},
    {kNvmlFunctionNotFound, "FUNCTION_NOT_FOUND"},
    {kNvmlCorruptedInforom, "CORRUPTED_INFOROM"},
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
#define X(field, name, ...) library.bind(name);
  UMAPROBE_NVML_NUMBERS(X)
#undef X
}

Failure Nvml::failure(const char* call, int status) const {
  const char* explanation = nvmlErrorString ? nvmlErrorString.function(status) : nullptr;
  return status_failure("nvml", call, status, status_name(kNames, status, "NVML_ERROR_"),
                        explanation);
}

Fact<const Nvml*> open_nvml(const MachineConfig& config) {
  // The name libnvidia-ml.so is left out: it comes with development files only. The second path is
  // WSL's.
  return OpenOnce<Nvml>::instance().get(config, [&] {
    return open_library("nvml", config, config.nvml,
                        {"libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"});
  });
}

std::optional<Failure> initialize_nvml(const Nvml& nvml, CallContext& context) {
  Initialization& state = initialization();
  if (state.done.load(std::memory_order_acquire)) return std::nullopt;
  // A thread that waits here for another environment's hung nvmlInit_v2 counts as in that call.
  context.enter(nvml.nvmlInit_v2.name);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.done.load(std::memory_order_relaxed)) return std::nullopt;
  if (auto failure = call(context, nvml, nvml.nvmlInit_v2)) return failure;
  state.done.store(true, std::memory_order_release);
  return std::nullopt;
}

}  // namespace umaprobe

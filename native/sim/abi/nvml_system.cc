// NVML: initialization, versions, errors.
#include <cstring>

#include "sim/abi/nvml.h"

namespace umasim {

int nvml_text(const char* text, char* out, unsigned int size) {
  const size_t length = std::strlen(text) + 1;
  if (length > size) return umaprobe::kNvmlInsufficientSize;
  std::memcpy(out, text, length);
  return 0;
}

namespace {

nvmlReturn_t start(const char* name) {
  return run_call(Library::kNvml, name, [](const Call& call) {
    call.session().nvml_users++;
    return 0;
  });
}

nvmlReturn_t cuda_version(const char* name, int* version) {
  return nvml(name, [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kNvmlInvalidArgument};
    *version = static_cast<int>(call.state().machine.driver.cuda_version);
    return 0;
  });
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API nvmlReturn_t nvmlInit() noexcept { return start(__func__); }

UMASIM_API nvmlReturn_t nvmlInit_v2() noexcept { return start(__func__); }

UMASIM_API nvmlReturn_t nvmlInitWithFlags(unsigned int) noexcept { return start(__func__); }

UMASIM_API nvmlReturn_t nvmlShutdown() noexcept {
  return nvml(__func__, [](const Call& call) {
    call.session().nvml_users--;
    return 0;
  });
}

UMASIM_API nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int size) noexcept {
  return nvml(__func__, [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kNvmlInvalidArgument};
    return nvml_text(call.state().machine.driver.version, version, size);
  });
}

UMASIM_API nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int size) noexcept {
  return nvml(__func__, [&](const Call& call) {
    if (version == nullptr) return int{umaprobe::kNvmlInvalidArgument};
    return nvml_text(call.state().machine.driver.nvml_version, version, size);
  });
}

UMASIM_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* version) noexcept {
  return cuda_version(__func__, version);
}

UMASIM_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) noexcept {
  return cuda_version(__func__, version);
}

UMASIM_API const char* nvmlErrorString(nvmlReturn_t status) noexcept {
  switch (status) {
    case umaprobe::kNvmlSuccess:
      return "Success";
    case umaprobe::kNvmlUninitialized:
      return "Uninitialized";
    case umaprobe::kNvmlInvalidArgument:
      return "Invalid Argument";
    case umaprobe::kNvmlNotSupported:
      return "Not Supported";
    case umaprobe::kNvmlNoPermission:
      return "Insufficient Permissions";
    case umaprobe::kNvmlNotFound:
      return "Not Found";
    case umaprobe::kNvmlInsufficientSize:
      return "Insufficient Size";
    case umaprobe::kNvmlDriverNotLoaded:
      return "Driver Not Loaded";
    case umaprobe::kNvmlTimeout:
      return "Timeout";
    case umaprobe::kNvmlLibraryNotFound:
      return "NVML Shared Library Not Found";
    case umaprobe::kNvmlFunctionNotFound:
      return "Function Not Found";
    case umaprobe::kNvmlGpuIsLost:
      return "GPU is lost";
    case umaprobe::kNvmlResetRequired:
      return "GPU requires reset";
    case umaprobe::kNvmlInUse:
      return "In use by another client";
    case umaprobe::kNvmlMemory:
      return "Insufficient Memory";
    case umaprobe::kNvmlLibRmVersionMismatch:
      return "Driver/library version mismatch";
    case umaprobe::kNvmlArgumentVersionMismatch:
      return "Version mismatch between requested structure and supported one";
    default:
      return "Unknown Error";
  }
}

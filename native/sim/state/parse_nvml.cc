// Parses what NVML answers about a device.
#include "abi/nvml.h"
#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

// The status of a refusal by its name; 0 for any other name.
int nvml_status(const std::string& name) {
  if (name == "NOT_SUPPORTED") return umaprobe::kNvmlNotSupported;
  if (name == "NO_PERMISSION") return umaprobe::kNvmlNoPermission;
  if (name == "GPU_IS_LOST") return umaprobe::kNvmlGpuIsLost;
  if (name == "UNKNOWN") return umaprobe::kNvmlUnknown;
  return umaprobe::kNvmlSuccess;
}

void parse_value(Description& in, const std::string& path, NvmlValue& value) {
  value.status = nvml_status(in.value(path));
  if (value.status == 0) in.integer(path, &value.value);
}

// A text that a machine file may leave out.
void parse_text(Description& in, const std::string& path, NvmlText& text) {
  text.status = in.has(path) ? nvml_status(in.value(path)) : int{umaprobe::kNvmlNotSupported};
  if (text.status == 0) in.text(path, text.value);
}

}  // namespace

void parse_nvml(Description& in, const std::string& at, NvmlAnswers& nvml) {
  const std::string memory = in.value(at + "memory");
  nvml.memory = memory == "OWN"    ? NvmlMemory::kOwn
                : memory == "HOST" ? NvmlMemory::kHost
                                   : NvmlMemory::kRefused;
  nvml.memory_status = nvml_status(memory);
  if (nvml.memory == NvmlMemory::kRefused && nvml.memory_status == 0) {
    in.fail(at + "memory is \"" + memory + "\"; expected OWN, HOST or the name of a refusal");
  }
  in.boolean(at + "processMemory", &nvml.process_memory);
#define X(member, key) parse_value(in, at + #key, nvml.member);
  UMASIM_NVML_VALUES(X)
#undef X
#define X(member, key)                              \
  nvml.member.status = umaprobe::kNvmlNotSupported; \
  if (in.has(at + #key)) parse_value(in, at + #key, nvml.member);
  UMASIM_OPTIONAL_NVML_VALUES(X)
#undef X
  parse_text(in, at + "serial", nvml.serial);
  parse_text(in, at + "vbiosVersion", nvml.vbios_version);
}

}  // namespace umasim

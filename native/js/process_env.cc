#include "js/process_env.h"

namespace umaprobe {
namespace {

// Empty if the variable is not set.
std::string variable(napi_env env, napi_value variables, const char* name) {
  napi_value value = nullptr;
  size_t length = 0;
  if (napi_get_named_property(env, variables, name, &value) != napi_ok ||
      napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok)
    return "";
  std::string text(length, '\0');
  napi_get_value_string_utf8(env, value, text.data(), length + 1, &length);
  return text;
}

}  // namespace

Fact<MachineConfig> config_from_process_env(napi_env env) {
  napi_value global = nullptr, process = nullptr, variables = nullptr;
  napi_valuetype type = napi_undefined;
  const bool found = napi_get_global(env, &global) == napi_ok &&
                     napi_get_named_property(env, global, "process", &process) == napi_ok &&
                     napi_get_named_property(env, process, "env", &variables) == napi_ok &&
                     napi_typeof(env, variables, &type) == napi_ok && type == napi_object;
  if (!found) {
    return Failure{"umaprobe", "process.env", std::nullopt, "NO_ENVIRONMENT",
                   "process.env is missing: it names the machine to read"};
  }
  const auto get = [&](const char* name) { return variable(env, variables, name); };
  MachineConfig config = make_machine_config(get("UMAPROBE_SIM"), get("UMAPROBE_SIM_LIBRARY"));
  const auto prefer = [&](std::string& path, const char* name) {
    if (std::string named = get(name); !named.empty()) path = std::move(named);
  };
  prefer(config.cudart, "UMAPROBE_CUDART");
  prefer(config.cuda, "UMAPROBE_CUDA");
  prefer(config.nvml, "UMAPROBE_NVML");
  return config;
}

}  // namespace umaprobe

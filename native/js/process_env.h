// Reads an environment's process.env. getenv() would not do: a Node worker's process.env is a copy
// that the process does not share, and getenv() races with `process.env.X = ...` in another thread.
#pragma once

#include <node_api.h>

#include "machine/machine_config.h"

namespace umaprobe {

// Must be called on the environment's thread. Fails if there is no process.env, or if the
// environment is being torn down.
Fact<MachineConfig> config_from_process_env(napi_env env);

}  // namespace umaprobe

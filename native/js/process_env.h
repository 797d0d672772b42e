// What an environment's process.env says. Not getenv(): a worker's process.env is a copy, which the
// process knows nothing of, and getenv() in one thread races with `process.env.X = ...` in another.
#pragma once

#include <node_api.h>

#include "machine/machine_config.h"

namespace umaprobe {

// On the environment's own thread. A failure: it has no process.env, or is being torn down.
Fact<MachineConfig> config_of_process_env(napi_env env);

}  // namespace umaprobe

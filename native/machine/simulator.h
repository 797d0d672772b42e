// The functions of libumasim.so besides those of CUDA and NVML.
#pragma once

#include <optional>
#include <string>

#include "abi/umasim.h"
#include "base/failure.h"

// X(function of umasim.h)
#define UMAPROBE_SIMULATOR_FUNCTIONS(X) \
  X(umasim_boot)                        \
  X(umasim_attach)                      \
  X(umasim_read)                        \
  X(umasim_write)                       \
  X(umasim_map)                         \
  X(umasim_unmap)                       \
  X(umasim_touch)                       \
  X(umasim_list)                        \
  X(umasim_machine)                     \
  X(umasim_page_size)                   \
  X(umasim_scale_milli)                 \
  X(umasim_record)

namespace umaprobe {

struct Simulator {
#define X(name) decltype(&::name) name = nullptr;
  UMAPROBE_SIMULATOR_FUNCTIONS(X)
#undef X
  int (*umasim_sync)() = nullptr;  // null in older simulators
};

// Fails if a symbol is missing: the simulator ships with this addon, so it is another version.
Fact<Simulator> open_simulator(const std::string& path);

// Attaches this process to the machine; see umasim_attach.
std::optional<Failure> attach_machine(const std::string& library, const std::string& state_path);

// Boots a machine; see umasim_boot.
std::optional<Failure> boot_machine(const std::string& library, const std::string& description,
                                    const std::string& state_path);

// The machine's record as JSON text; see umasim_record.
Fact<std::string> record_machine(const std::string& library, const std::string& state_path);

}  // namespace umaprobe

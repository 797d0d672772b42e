#include "machine/simulator.h"

#include <dlfcn.h>

#include <cerrno>

#include "base/dl.h"

namespace umaprobe {

Fact<Simulator> open_simulator(const std::string& path) {
  Fact<void*> handle = open_shared_object(path);
  if (Failure* failure = std::get_if<Failure>(&handle)) {
    failure->source = "sim";
    return std::move(*failure);
  }
  Simulator simulator;
  const char* missing = nullptr;
#define X(name)                                                                                \
  simulator.name = reinterpret_cast<decltype(&::name)>(dlsym(std::get<void*>(handle), #name)); \
  if (!simulator.name) missing = #name;
  UMAPROBE_SIMULATOR_FUNCTIONS(X)
#undef X
  simulator.umasim_sync = reinterpret_cast<decltype(Simulator::umasim_sync)>(
      dlsym(std::get<void*>(handle), "umasim_sync"));
  if (missing) return symbol_missing(path, missing);
  return simulator;
}

std::optional<Failure> attach_machine(const std::string& library, const std::string& state_path) {
  Fact<Simulator> simulator = open_simulator(library);
  if (Failure* failure = std::get_if<Failure>(&simulator)) return std::move(*failure);
  const int status = std::get<Simulator>(simulator).umasim_attach(state_path.c_str());
  if (status == 0) return std::nullopt;
  const std::string call = "umasim_attach " + state_path;
  Failure failure = errno_failure("sim", call, -status);
  if (status == -EBUSY) {
    failure.message = "this process is attached to another simulated machine";
  } else {
    failure.name = "NO_MACHINE";
    failure.message = "UMAPROBE_SIM=" + state_path +
                      " is not the state file of a simulated machine: " + failure.message +
                      ". Unset it, or use umaprobe --sim NAME or umaprobe sim run, which set it";
  }
  return failure;
}

std::optional<Failure> boot_machine(const std::string& library, const std::string& description,
                                    const std::string& state_path) {
  Fact<Simulator> simulator = open_simulator(library);
  if (Failure* failure = std::get_if<Failure>(&simulator)) return std::move(*failure);
  char message[512] = "";
  const int status = std::get<Simulator>(simulator).umasim_boot(
      description.c_str(), state_path.c_str(), message, sizeof message);
  if (status == 0) return std::nullopt;
  Failure failure = errno_failure("sim", "umasim_boot " + state_path, -status);
  if (*message) failure.message = message;
  return failure;
}

Fact<std::string> record_machine(const std::string& library, const std::string& state_path) {
  constexpr size_t kMaxBytes = 64u << 20;
  Fact<Simulator> simulator = open_simulator(library);
  if (Failure* failure = std::get_if<Failure>(&simulator)) return std::move(*failure);
  const std::string call = "umasim_record " + state_path;
  for (std::string text(64u << 10, '\0');; text.resize(text.size() * 4)) {
    const long length =
        std::get<Simulator>(simulator).umasim_record(state_path.c_str(), text.data(), text.size());
    if (length < 0) return errno_failure("sim", call, static_cast<int>(-length));
    if (static_cast<size_t>(length) < text.size()) {
      text.resize(static_cast<size_t>(length));
      return text;
    }
    if (text.size() >= kMaxBytes) return errno_failure("sim", call, EFBIG);
  }
}

}  // namespace umaprobe

#include "machine/library.h"

#include <dlfcn.h>
#include <link.h>

#include "machine/simulator.h"

namespace umaprobe {
namespace {

// The file that the loader found for a bare name such as libcuda.so.1.
std::string resolved_path(void* handle, const std::string& requested) {
  link_map* map = nullptr;
  const bool known =
      dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name;
  return known ? map->l_name : requested;
}

template <class Function>
Function* exported(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

}  // namespace

void* Library::find(const char* symbol) const {
  if (has_symbol && has_symbol(symbol) == 0) return nullptr;
  return dlsym(handle, symbol);
}

Fact<Library> open_library(const char* id, const MachineConfig& config, const std::string& path,
                           std::initializer_list<const char*> names) {
  Library library;
  std::string reasons;
  const auto attempt = [&](const std::string& file) {
    Fact<void*> handle = open_shared_object(file);
    if (const Failure* failure = failure_of(handle)) {
      reasons += (reasons.empty() ? "" : "; ") + failure->message;
      return false;
    }
    library.handle = std::get<void*>(handle);
    library.path = resolved_path(library.handle, file);
    return true;
  };

  bool opened = false;
  if (!path.empty()) {
    opened = attempt(path);
  } else {
    for (const char* name : names) {
      if ((opened = attempt(name))) break;
    }
  }
  const std::string call = "dlopen " + (path.empty() ? std::string(*names.begin()) : path);
  if (!opened) return library_missing(call, reasons);

  // A report describes one machine: real GPU libraries must not be combined with a simulated host,
  // nor the simulator with the real host, whatever environment variables and loader paths say.
  if (bool(dlsym(library.handle, "umasim_machine")) != config.simulated()) {
    const char* reason =
        config.simulated() ? " does not belong to the simulated machine of this process"
                           : " belongs to a simulated machine, but this process uses the real one";
    return library_missing(call, library.path + reason);
  }
  if (!config.simulated()) return library;
  // This may be another copy of the simulator than the host's; attach it as well.
  if (auto failure = attach_machine(library.path, config.machine)) return std::move(*failure);
  auto* has_library = exported<int(const char*)>(library.handle, "umasim_has_library");
  if (has_library && has_library(id) == 0) {
    return library_missing(call, std::string(id) + " is not installed on this simulated machine");
  }
  library.has_symbol = exported<int(const char*)>(library.handle, "umasim_has_symbol");
  return library;
}

}  // namespace umaprobe

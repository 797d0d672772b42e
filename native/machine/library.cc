#include "machine/library.h"

#include <dlfcn.h>
#include <link.h>

#include "machine/simulator.h"

namespace umaprobe {
namespace {

// The file that a bare name such as libcuda.so.1 was found in.
std::string resolved_path(void* handle, const std::string& asked) {
  link_map* map = nullptr;
  const bool known =
      dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name;
  return known ? map->l_name : asked;
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
  std::string tried;
  const auto attempt = [&](const std::string& file) {
    Fact<void*> handle = open_file(file);
    if (const Failure* failure = failure_of(handle)) {
      tried += (tried.empty() ? "" : "; ") + failure->message;
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
  if (!opened) return library_missing(call, tried);

  // One report, one machine: real GPU libraries never answer beside a simulated kernel, nor the
  // simulator's beside the real one, whatever the variables and the loader's paths say.
  if (bool(dlsym(library.handle, "umasim_machine")) != config.simulated()) {
    return library_missing(
        call, library.path + (config.simulated() ? " is not of the simulated machine that this "
                                                   "process is on"
                                                 : " is of a simulated machine, and this "
                                                   "process is on the real one"));
  }
  if (!config.simulated()) return library;
  // Another copy of the simulator than the kernel's has to be told as well.
  if (auto failure = attach(library.path, config.machine)) return std::move(*failure);
  auto* has_library = exported<int(const char*)>(library.handle, "umasim_has_library");
  if (has_library && has_library(id) == 0) {
    return library_missing(call, std::string(id) + " is not installed on this simulated machine");
  }
  library.has_symbol = exported<int(const char*)>(library.handle, "umasim_has_symbol");
  return library;
}

}  // namespace umaprobe

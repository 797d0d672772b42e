// Opens a GPU library once for the life of the process, binds its symbols one by one, and calls
// them. Libraries are never closed; see base/dl.h.
#pragma once

#include <atomic>
#include <initializer_list>
#include <mutex>
#include <string>

#include "base/dl.h"
#include "base/failure.h"
#include "machine/machine_config.h"
#include "runtime/call_context.h"

namespace umaprobe {

// A function of a library. It is null if this version of the library does not have it.
template <class Signature>
struct Symbol {
  const char* name;
  Signature* function = nullptr;
  explicit operator bool() const { return function != nullptr; }
};

struct Library {
  void* handle = nullptr;
  std::string path;
  // umasim_has_symbol, on a simulated machine only.
  int (*has_symbol)(const char* name) = nullptr;

  template <class Signature>
  void bind(Symbol<Signature>& symbol) const {
    symbol.function = reinterpret_cast<Signature*>(find(symbol.name));
  }

 private:
  void* find(const char* symbol) const;
};

// `id`: "cudart", "cuda" or "nvml". Tries `path` if it is not empty, otherwise each of `names` in
// turn.
Fact<Library> open_library(const char* id, const MachineConfig& config, const std::string& path,
                           std::initializer_list<const char*> names);

// The process's only function table of a library. A failed open is not remembered: the user may
// install the driver and call again.
template <class Table>
class OpenOnce {
 public:
  static OpenOnce& instance() {
    static auto& once = *new OpenOnce;  // never destroyed, as the library
    return once;
  }

  // `open` returns a Fact<Library>. A config with an error gets no table, even if there is one: it
  // belongs to another machine.
  template <class Open>
  Fact<const Table*> get(const MachineConfig& config, Open open) {
    if (config.error) return *config.error;
    if (const Table* table = table_.load(std::memory_order_acquire)) return table;
    std::lock_guard<std::mutex> lock(mutex_);
    if (const Table* table = table_.load(std::memory_order_relaxed)) return table;
    Fact<Library> library = open();
    if (Failure* failure = std::get_if<Failure>(&library)) return std::move(*failure);
    // The table is never destroyed, like the library: a worker thread may outlive static
    // destruction.
    const Table* table = new Table(std::move(std::get<Library>(library)));
    table_.store(table, std::memory_order_release);
    return table;
  }

 private:
  std::mutex mutex_;
  std::atomic<const Table*> table_{nullptr};
};

// Calls a function of a table, even after the deadline: for freeing. The watchdog sees the call in
// `context`. Empty on success.
template <class Table, class... Parameters, class... Arguments>
std::optional<Failure> call_always(CallContext& context, const Table& table,
                                   const Symbol<int(Parameters...)>& symbol,
                                   Arguments... arguments) {
  if (!symbol) return symbol_missing(table.library.path, symbol.name);
  context.enter(symbol.name);
  const int status = symbol.function(arguments...);
  if (status == 0) return std::nullopt;
  return table.failure(symbol.name, status);
}

// Like call_always(), but fails with CANCELLED after the deadline.
template <class Table, class... Parameters, class... Arguments>
std::optional<Failure> call(CallContext& context, const Table& table,
                            const Symbol<int(Parameters...)>& symbol, Arguments... arguments) {
  if (symbol && context.cancelled()) {
    return Failure{"umaprobe", symbol.name, std::nullopt, "CANCELLED", "the deadline has passed"};
  }
  return call_always(context, table, symbol, arguments...);
}

}  // namespace umaprobe

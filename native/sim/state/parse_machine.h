// Shared by the files that read a machine's description.
#pragma once
#include "sim/state/description.h"
#include "sim/state/machine.h"

namespace umasim {

// A key of the file and where its value goes.
template <typename Struct, typename Value>
struct Field {
  const char* key;
  Value Struct::*member;
};

// Index of the word in `words`, or an error that lists them.
template <size_t N>
int choice(Description& in, const std::string& path, const char* const (&words)[N]) {
  const std::string value = in.word(path);
  std::string expected;
  for (size_t i = 0; i < N; i++) {
    if (value == words[i]) return static_cast<int>(i);
    expected += std::string(i == 0 ? "" : ", ") + words[i];
  }
  in.fail(path + " is \"" + value + "\", expected one of: " + expected);
  return 0;
}

// A leaf that may be null, which the flat form leaves out.
inline uint64_t bytes_or(Description& in, const std::string& path, uint64_t fallback) {
  uint64_t value = fallback;
  if (in.has(path)) in.bytes(path, &value);
  return value;
}

void read_devices(Description& in, Machine& machine);
// Processes and events; after the devices, which they name.
void read_scenario(Description& in, Machine& machine);
void read_faults(Description& in, Machine& machine);

}  // namespace umasim

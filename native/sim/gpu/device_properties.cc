#include "sim/gpu/device_properties.h"

#include <cstring>

#include "sim/gpu/cuda_attributes.h"
#include "sim/gpu/device_identity.h"

namespace umasim {
namespace {

struct Field {
  int attribute;
  size_t bytes, until_12, in_13;
};

#define UMASIM_FIELD(name, ...) {__VA_ARGS__},
constexpr Field kInAll[] = {UMASIM_PROPERTIES(UMASIM_FIELD)};
constexpr Field kUntil12[] = {UMASIM_PROPERTIES_UNTIL_12(UMASIM_FIELD)};
constexpr Field kSince12[] = {UMASIM_PROPERTIES_SINCE_12(UMASIM_FIELD)};

template <size_t count>
void fill(const Machine& machine, int device, bool is_13, const Field (&fields)[count],
          char* properties) {
  for (const Field& field : fields) {
    int value;
    if (!device_attribute(machine, device, field.attribute, &value)) continue;
    const auto wide = static_cast<uint64_t>(value);  // little-endian: an int is its first bytes
    std::memcpy(properties + (is_13 ? field.in_13 : field.until_12), &wide, field.bytes);
  }
}

}  // namespace

void fill_properties(const Machine& machine, int device, uint64_t total,
                     const PropertyLayout& layout, void* properties) {
  const Device& facts = machine.devices[device];
  char* const out = static_cast<char*>(properties);
  const bool is_13 = layout.cuda == 13;
  std::memset(out, 0, layout.size);
  std::memcpy(out, facts.name, sizeof facts.name);
  uuid_bytes(facts, reinterpret_cast<unsigned char*>(out + layout.uuid));
  std::memcpy(out + layout.total_global_mem, &total, sizeof total);
  fill(machine, device, is_13, kInAll, out);
  if (!is_13) fill(machine, device, is_13, kUntil12, out);
  if (layout.cuda != 11) fill(machine, device, is_13, kSince12, out);
}

}  // namespace umasim

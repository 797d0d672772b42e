// The line about a trip that is written to a descriptor when JavaScript may be blocked.
#pragma once

#include "base/descriptor.h"
#include "base/unknown.h"

namespace umaprobe {

namespace reason_word {
inline constexpr const char *kFloor = "floor", *kPressure = "pressure", *kParent = "parent";
}
// lib/core/native/contract.ts reads it, and says what each field is.
struct ProbeTrip {
  const char* reason = nullptr;
  double available = kUnknown, free_in_cpu_lists = kUnknown, pressure_full = kUnknown,
         stopped_after_ms = kUnknown, freed_after_ms = kUnknown, at_ms = kUnknown;
  bool left = false;
  template <class Visitor>
  void visit(Visitor& field) const {
    field.text("reason", reason)
        .number("available", available)
        .number("freeInCpuLists", free_in_cpu_lists)
        .number("pressureFull", pressure_full)
        .number("stoppedAfterMs", stopped_after_ms)
        .number("freedAfterMs", freed_after_ms)
        .number("atMs", at_ms)
        .boolean("left", left);
  }
};

class TripReporter {
 public:
  // Duplicates `fd`: JavaScript may close it, and the number may be reused. Returns 0 or errno.
  int open(int fd);
  // Writes one JSON line. Never blocks: if the descriptor is not writable, nothing is written.
  void write(const ProbeTrip& trip) const;

 private:
  Descriptor descriptor_;
};

}  // namespace umaprobe

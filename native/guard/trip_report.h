// A guard's trip, and the line about it that is written to a descriptor when JavaScript may be
// blocked.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/descriptor.h"

namespace umaprobe {

struct GuardTrip {
  const char* reason = "";
  std::optional<double> available;
  std::optional<double> pressureFull;
  std::optional<double> stoppedAfterMs;
  std::optional<double> freedAfterMs;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("reason", std::string(reason));
    field.nullable("available", available);
    field.nullable("pressureFull", pressureFull);
    field.nullable("stoppedAfterMs", stoppedAfterMs);
    field.nullable("freedAfterMs", freedAfterMs);
  }
};

class TripReporter {
 public:
  // Duplicates `fd`: JavaScript may close it, and the number may be reused. Returns 0 or errno.
  int open(int fd);
  // Writes one JSON line. Never blocks: if the descriptor is not writable, nothing is written.
  // `exited`: the process exits right after.
  void write(const GuardTrip& trip, Clock::time_point tripped_at, bool exited) const;

 private:
  Descriptor descriptor_;
};

}  // namespace umaprobe

// The line about a trip that is written to a descriptor when JavaScript may be blocked.
#pragma once

#include "base/descriptor.h"
#include "guard/protocol.h"

namespace umaprobe {

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

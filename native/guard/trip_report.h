// What the guard says on a descriptor, when JavaScript may not be able to say anything any more.
#pragma once

#include <optional>
#include <string>

#include "runtime/call_context.h"

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
  TripReporter() = default;
  ~TripReporter();
  TripReporter(const TripReporter&) = delete;
  TripReporter& operator=(const TripReporter&) = delete;

  // On a descriptor of our own for what `fd` names: JavaScript may close its own, and the number
  // become another file's. 0, or errno.
  int open(int fd);
  // One line. Never waits, and says nothing where it would have to.
  void write(const GuardTrip& trip, Clock::time_point tripped_at, bool left) const;

 private:
  int fd_ = -1;
};

}  // namespace umaprobe

// Pressure stall information: exponential averages, in percent, of the share of time that tasks
// waited for memory.
#pragma once
#include <cstdint>
#include <string>

namespace umasim {

struct PsiLine {
  double avg10, avg60, avg300, total_us;
};

struct Psi {
  PsiLine some, full;
};

// `some` and `full`: share (0 to 1) of the last `dt_ms` that was lost.
void psi_advance(Psi& psi, double some, double full, double dt_ms);
// Text of /proc/pressure/memory.
std::string psi_text(const Psi& psi);

}  // namespace umasim

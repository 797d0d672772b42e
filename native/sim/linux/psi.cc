#include "sim/linux/psi.h"

#include <cmath>
#include <cstdio>

namespace umasim {
namespace {

void advance(PsiLine& line, double share, double dt_ms) {
  const auto approach = [&](double average, double seconds) {
    return average + (share * 100 - average) * (1 - std::exp(-dt_ms / (seconds * 1000)));
  };
  line.avg10 = approach(line.avg10, 10);
  line.avg60 = approach(line.avg60, 60);
  line.avg300 = approach(line.avg300, 300);
  line.total_us += share * dt_ms * 1000;
}

std::string text(const char* name, const PsiLine& line) {
  char out[128];
  std::snprintf(out, sizeof out, "%s avg10=%.2f avg60=%.2f avg300=%.2f total=%.0f\n", name,
                line.avg10, line.avg60, line.avg300, line.total_us);
  return out;
}

}  // namespace

void psi_advance(Psi& psi, double some, double full, double dt_ms) {
  advance(psi.some, some, dt_ms);
  advance(psi.full, full, dt_ms);
}

std::string psi_text(const Psi& psi) { return text("some", psi.some) + text("full", psi.full); }

}  // namespace umasim

// The judge alone, over a recorded series.
#pragma once

#include "run/supervisor/options.h"
#include "run/supervisor/report.h"

namespace umaprobe {

// Reads one reading a line: {"t":seconds,"available":bytes,…}. Reports the first warning, SIGTERM
// and SIGKILL, with the time `t` of the series. Returns the exit code; `wrong` says why it is not
// 0.
int replay(const SupervisorOptions& options, Report& report, std::string& wrong);

}  // namespace umaprobe

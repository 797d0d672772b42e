// The files whose text or behaviour the description of the machine replaces.
#pragma once
#include <string>

#include "sim/state/state.h"

namespace umasim {

// The replacement of a path; null if the description has none.
const ReplacedFile* find_replaced(const Machine& machine, const char* path);

// Returns whether the description replaces the answer: false for a file that only hangs.
inline bool replaces_answer(const ReplacedFile* file) {
  return file != nullptr && file->answer != FileAnswer::kUsual;
}

std::string replaced_text(const Machine& machine, const ReplacedFile& file);

// Waits as long as the description says that the path hangs. Callers do not hold the lock.
void wait_for_file(const State& state, const char* path);

}  // namespace umasim

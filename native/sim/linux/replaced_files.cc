#include "sim/linux/replaced_files.h"

#include <cstring>

#include "sim/state/clock.h"

namespace umasim {

const ReplacedFile* find_replaced(const Machine& machine, const char* path) {
  for (int i = 0; i < machine.file_count; i++) {
    if (std::strcmp(machine.files[i].path, path) == 0) return &machine.files[i];
  }
  return nullptr;
}

std::string replaced_text(const Machine& machine, const ReplacedFile& file) {
  return {machine.file_texts + file.text_begin, file.text_size};
}

void wait_for_file(const State& state, const char* path) {
  const ReplacedFile* file = find_replaced(state.machine, path);
  if (file != nullptr && file->hang_ms > 0) sleep_ms(state, file->hang_ms);
}

}  // namespace umasim

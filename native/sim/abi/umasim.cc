// The exported functions of umasim.h.
#include "abi/umasim.h"

#include <fcntl.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "sim/gpu/call.h"
#include "sim/gpu/cuda_memory.h"
#include "sim/linux/control_files.h"
#include "sim/linux/locked.h"
#include "sim/linux/memory.h"
#include "sim/linux/procfs.h"
#include "sim/linux/record.h"
#include "sim/linux/writeback.h"
#include "sim/state/clock.h"

namespace umasim {
namespace {

long give(const std::string& text, char* buffer, size_t size) {
  return static_cast<long>(text.copy(buffer, size));
}

}  // namespace
}  // namespace umasim

using namespace umasim;

int umasim_boot(const char* description, const char* state_path, char* error, size_t error_size) {
  const auto machine = std::make_unique<Machine>();
  std::string problem = parse_machine(description, machine.get());
  int status = -EINVAL;
  if (problem.empty()) status = create_state(*machine, state_path, start_world, &problem);
  if (error != nullptr && error_size > 0) std::snprintf(error, error_size, "%s", problem.c_str());
  return status;
}

long umasim_read(const char* path, char* buffer, size_t size) {
  Session* here = session();
  if (here == nullptr) return -no_session_errno();
  std::string text;
  const Locked locked(*here->state);
  const int status = read_file(*here->state, path, &text);
  return status != 0 ? status : give(text, buffer, size);
}

long umasim_write(const char* path, const char* data, size_t size) {
  Session* here = session();
  if (here == nullptr) return -no_session_errno();
  State& state = *here->state;
  uint64_t freed_bytes = 0;
  int status;
  {
    const Locked locked(state);
    Control which;
    status = may_open(state, path, O_WRONLY);
    if (status == 0) {
      status = is_control(path, &which) ? control(state, which, here->pid, data, size, &freed_bytes)
                                        : -EACCES;
    }
  }
  sleep_ms(state, static_cast<double>(freed_bytes) / kGiB * state.machine.timing.drop);
  return status == 0 ? static_cast<long>(size) : status;
}

long umasim_sync() {
  Session* here = session();
  return here == nullptr ? -no_session_errno() : write_back(*here->state);
}

long umasim_scale_milli() {
  Session* here = session();
  return here == nullptr ? -no_session_errno() : std::lround(here->state->machine.scale * 1000);
}

void* umasim_map(size_t bytes) {
  if (session() == nullptr) {
    errno = no_session_errno();
    return nullptr;
  }
  return system_map(*session(), bytes);
}

void umasim_unmap(void* address, size_t bytes) {
  if (Session* here = session()) system_unmap(*here, address, bytes);
}

long umasim_list(const char* path, char* buffer, size_t size) {
  Session* here = session();
  if (here == nullptr) return -no_session_errno();
  std::string names;
  const Locked locked(*here->state);
  const int status = list_directory(*here->state, path, &names);
  return status != 0 ? status : give(names, buffer, size);
}

int umasim_attach(const char* state_path) { return attach_session(state_path); }

const char* umasim_machine() {
  Session* here = fresh_session();
  return here == nullptr ? nullptr : here->state->machine.name;
}

long umasim_page_size() {
  Session* here = session();
  return here == nullptr ? -no_session_errno()
                         : static_cast<long>(here->state->machine.kernel.page_size);
}

int umasim_has_library(const char* library) {
  Session* here = session();
  if (here == nullptr) return -no_session_errno();
  const Machine& machine = here->state->machine;
  if (std::strcmp(library, "cudart") == 0) return has_library(machine, Library::kCudart);
  if (std::strcmp(library, "cuda") == 0) return has_library(machine, Library::kCuda);
  if (std::strcmp(library, "nvml") == 0) return has_library(machine, Library::kNvml);
  return -EINVAL;
}

int umasim_has_symbol(const char* name) {
  Session* here = session();
  return here == nullptr ? -no_session_errno() : has_symbol(here->state->machine, name);
}

long umasim_record(const char* state_path, char* buffer, size_t size) {
  State* state = map_state(state_path);
  if (state == nullptr) return -errno;
  std::string text;
  {
    const Locked locked(*state);
    text = record_text(*state);
  }
  unmap_state(state);
  return give(text, buffer, size);
}

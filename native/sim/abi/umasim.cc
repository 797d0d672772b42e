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
#include "sim/linux/procfs.h"
#include "sim/linux/record.h"
#include "sim/linux/replaced_files.h"
#include "sim/linux/world.h"
#include "sim/linux/writeback.h"
#include "sim/state/clock.h"
#include "sim/state/parse_machine.h"

namespace umasim {
namespace {

long copy_text(const std::string& text, char* buffer, size_t size) {
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
  Session* current = session();
  if (current == nullptr) return -no_session_errno();
  std::string text;
  wait_for_file(*current->state, path);
  const Locked locked(*current->state);
  const int status = read_file(*current->state, path, &text);
  return status != 0 ? status : copy_text(text, buffer, size);
}

long umasim_write(const char* path, const char* data, size_t size) {
  Session* current = session();
  if (current == nullptr) return -no_session_errno();
  State& state = *current->state;
  uint64_t freed_bytes = 0;
  int status;
  {
    const Locked locked(state);
    ControlFile file;
    status = may_open(state, path, O_WRONLY);
    if (status == 0) {
      status = find_control_file(path, &file)
                   ? write_control_file(state, file, current->pid, data, size, &freed_bytes)
                   : -EACCES;
    }
  }
  sleep_ms(state, static_cast<double>(freed_bytes) / kGiB * state.machine.timing.drop);
  return status == 0 ? static_cast<long>(size) : status;
}

long umasim_sync() {
  Session* current = session();
  return current == nullptr ? -no_session_errno() : write_back(*current->state);
}

long umasim_scale_milli() {
  Session* current = session();
  return current == nullptr ? -no_session_errno()
                            : std::lround(current->state->machine.scale * 1000);
}

void* umasim_map(size_t bytes) {
  if (session() == nullptr) {
    errno = no_session_errno();
    return nullptr;
  }
  return system_map(*session(), bytes);
}

int umasim_touch(void* address, size_t bytes) {
  Session* current = session();
  return current == nullptr ? -no_session_errno() : system_touch(*current, address, bytes);
}

void umasim_unmap(void* address, size_t bytes) {
  if (Session* current = session()) system_unmap(*current, address, bytes);
}

long umasim_list(const char* path, char* buffer, size_t size) {
  Session* current = session();
  if (current == nullptr) return -no_session_errno();
  std::string names;
  const Locked locked(*current->state);
  const int status = list_directory(*current->state, path, &names);
  return status != 0 ? status : copy_text(names, buffer, size);
}

int umasim_attach(const char* state_path) { return attach_session(state_path); }

const char* umasim_machine() {
  Session* current = refresh_session();
  return current == nullptr ? nullptr : current->state->machine.name;
}

long umasim_page_size() {
  Session* current = session();
  return current == nullptr ? -no_session_errno()
                            : static_cast<long>(current->state->machine.linux_kernel.page_size);
}

int umasim_has_library(const char* library) {
  Session* current = session();
  if (current == nullptr) return -no_session_errno();
  const Machine& machine = current->state->machine;
  if (std::strcmp(library, "cudart") == 0) return has_library(machine, Library::kCudart);
  if (std::strcmp(library, "cuda") == 0) return has_library(machine, Library::kCuda);
  if (std::strcmp(library, "nvml") == 0) return has_library(machine, Library::kNvml);
  return -EINVAL;
}

int umasim_has_symbol(const char* name) {
  Session* current = session();
  return current == nullptr ? -no_session_errno() : has_symbol(current->state->machine, name);
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
  return copy_text(text, buffer, size);
}

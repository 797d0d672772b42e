#include "sim/linux/process_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sim/linux/cgroup.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {
namespace {

// Resident memory of a program without allocations. It is constant, because the real resident set
// varies and must not appear in the measured change of a simulated step.
constexpr uint64_t kProgramBytes = 48ull << 20;
constexpr uint64_t kProgramText = 24ull << 20;

const ScriptedProcess* scripted(const State& state, int pid) {
  for (int i = 0; i < state.machine.process_count; i++) {
    const bool alive = !state.world.scripted_gone[i];
    if (alive && state.machine.processes[i].pid == pid) return &state.machine.processes[i];
  }
  return nullptr;
}

int client(const State& state, int pid) {
  for (int i = 0; i < kMaxClients; i++) {
    if (state.clients[i].pid == pid) return i;
  }
  return -1;
}

// Anonymous memory that a client has touched. cudaMalloc memory is in no page table of the CPU.
// Managed memory gets there by a CPU fault, so memory that only the GPU touched does not count
// (inferred; no published measurement).
uint64_t touched_bytes(const State& state, int pid) {
  const int slot = client(state, pid);
  uint64_t bytes = 0;
  for (int id = 0; slot >= 0 && id < state.block_limit; id++) {
    const Block& block = state.blocks[id];
    if (block.kind == BlockKind::kSystem && block.client == slot) bytes += block.host_bytes;
  }
  return bytes;
}

std::string statm_text(const State& state, int pid) {
  const ScriptedProcess* process = scripted(state, pid);
  const uint64_t page = state.machine.linux_kernel.page_size;
  const uint64_t index = process == nullptr ? 0 : process - state.machine.processes;
  const uint64_t anon =
      process == nullptr ? touched_bytes(state, pid) : state.world.scripted_anon[index];
  const uint64_t resident = (kProgramBytes + anon) / page, text = kProgramText / page;
  // size resident shared text lib data dt
  return std::to_string(2 * resident) + " " + std::to_string(resident) + " " +
         std::to_string(text) + " " + std::to_string(text) + " 0 " + std::to_string(resident) +
         " 0\n";
}

}  // namespace

ProcessFile process_file(const char* path, int* pid) {
  if (std::strncmp(path, "/proc/", 6) != 0) return ProcessFile::kNone;
  const char* const who = path + 6;
  char* end = nullptr;
  if (std::strncmp(who, "self/", 5) == 0) {
    *pid = getpid();
    end = const_cast<char*>(who) + 4;
  } else {
    const long number = std::strtol(who, &end, 10);
    if (end == who || number <= 0) return ProcessFile::kNone;
    *pid = static_cast<int>(number);
  }
  if (std::strcmp(end, "/comm") == 0) return ProcessFile::kComm;
  if (std::strcmp(end, "/statm") == 0) return ProcessFile::kStatm;
  return std::strcmp(end, "/cgroup") == 0 ? ProcessFile::kCgroup : ProcessFile::kNone;
}

bool knows_process(const State& state, ProcessFile file, int pid) {
  if (file == ProcessFile::kNone) return false;
  if (scripted(state, pid) != nullptr) return true;
  // Real processes keep their real names.
  return file != ProcessFile::kComm && (pid == getpid() || client(state, pid) >= 0);
}

int process_text(const State& state, ProcessFile file, int pid, std::string* text) {
  if (!knows_process(state, file, pid)) {
    const char* const names[] = {"", "comm", "statm", "cgroup"};
    const std::string path = "/proc/" + std::to_string(pid) + "/" + names[static_cast<int>(file)];
    *text = file == ProcessFile::kComm ? raw_read_file(path.c_str(), 64) : std::string();
    return text->empty() ? -ENOENT : 0;
  }
  if (file == ProcessFile::kComm) *text = std::string(scripted(state, pid)->name) + "\n";
  if (file == ProcessFile::kStatm) *text = statm_text(state, pid);
  if (file == ProcessFile::kCgroup) *text = "0::" UMASIM_CGROUP "\n";
  return 0;
}

}  // namespace umasim

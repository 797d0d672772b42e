#include "sim/linux/process_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "sim/linux/cgroup.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {

// The names have the order of ProcessFile, without kNone.
const char* const kProcessFileNames[6] = {"comm", "statm", "cgroup", "cmdline", "stat", "status"};

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

struct Sizes {
  uint64_t size, resident, text;
};

Sizes sizes(const State& state, int pid) {
  const ScriptedProcess* process = scripted(state, pid);
  const uint64_t anon = process == nullptr
                            ? touched_bytes(state, pid)
                            : state.world.scripted_anon[process - state.machine.processes];
  const uint64_t resident = kProgramBytes + anon;
  return {2 * resident, resident, kProgramText};
}

std::string statm_text(const State& state, int pid) {
  const uint64_t page = state.machine.linux_kernel.page_size;
  const Sizes all = sizes(state, pid);
  const std::string resident = std::to_string(all.resident / page),
                    text = std::to_string(all.text / page);
  // size resident shared text lib data dt
  return std::to_string(all.size / page) + " " + resident + " " + text + " " + text + " 0 " +
         resident + " 0\n";
}

// A process that sleeps, is a child of init, started when the machine did and has used no CPU time.
std::string stat_text(const State& state, const ScriptedProcess& process) {
  constexpr int64_t kTickNs = 10'000'000;
  const uint64_t page = state.machine.linux_kernel.page_size;
  const Sizes all = sizes(state, static_cast<int>(process.pid));
  const std::string pid = std::to_string(process.pid);
  // Fields 1 to 20, then starttime, vsize, rss and fields 25 to 52.
  std::string text = pid + " (" + process.name + ") S 1 " + pid + " " + pid +
                     " 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 " +
                     std::to_string(state.boot_ns / kTickNs) + " " + std::to_string(all.size) +
                     " " + std::to_string(all.resident / page) + " 18446744073709551615";
  for (int field = 26; field <= 52; field++) text += field == 38 ? " 17" : " 0";
  return text + "\n";
}

struct Identity {
  std::string name;
  int pid, parent;
};

std::string status_text(const State& state, const Identity& who) {
  const Sizes all = sizes(state, who.pid);
  const std::string pid = std::to_string(who.pid), user = std::to_string(getuid()),
                    group = std::to_string(getgid());
  const auto kb = [](const char* name, uint64_t bytes) {
    char line[64];
    std::snprintf(line, sizeof line, "%s:\t%8llu kB\n", name,
                  static_cast<unsigned long long>(bytes / 1024));
    return std::string(line);
  };
  return "Name:\t" + who.name + "\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t" + pid +
         "\nNgid:\t0\nPid:\t" + pid + "\nPPid:\t" + std::to_string(who.parent) +
         "\nTracerPid:\t0\nUid:\t" + user + "\t" + user + "\t" + user + "\t" + user + "\nGid:\t" +
         group + "\t" + group + "\t" + group + "\t" + group + "\n" + kb("VmSize", all.size) +
         kb("VmRSS", all.resident) + kb("RssAnon", all.resident - all.text) +
         kb("RssFile", all.text) + kb("RssShmem", 0) + kb("VmSwap", 0) + "Threads:\t1\n";
}

std::string real_file(int pid, const char* name, size_t limit) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  return raw_read_file(path.c_str(), limit);
}

// The addon's own readings of a real process on the machine: its name and parent are real, its
// memory is simulated. Programs read the real files, which have more lines.
std::string client_text(const State& state, ProcessFile file, int pid) {
  if (file == ProcessFile::kComm) return real_file(pid, "comm", 64);
  if (client(state, pid) < 0) return {};
  if (file == ProcessFile::kCmdline) return real_file(pid, "cmdline", 4096);
  if (file != ProcessFile::kStatus) return {};
  const std::string real = real_file(pid, "status", 4096);
  const size_t name = real.find("Name:\t"), line_end = real.find('\n'),
               parent = real.find("PPid:\t");
  if (name != 0 || line_end == std::string::npos || parent == std::string::npos) return {};
  return status_text(state,
                     {real.substr(6, line_end - 6), pid, std::atoi(real.c_str() + parent + 6)});
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
  if (*end != '/') return ProcessFile::kNone;
  for (size_t i = 0; i < std::size(kProcessFileNames); i++) {
    if (std::strcmp(end + 1, kProcessFileNames[i]) == 0) return static_cast<ProcessFile>(i + 1);
  }
  return ProcessFile::kNone;
}

bool is_scripted_directory(const State& state, const char* path) {
  if (std::strncmp(path, "/proc/", 6) != 0) return false;
  char* end = nullptr;
  const long pid = std::strtol(path + 6, &end, 10);
  const bool whole = end != path + 6 && (*end == '\0' || std::strcmp(end, "/") == 0);
  return whole && scripted(state, static_cast<int>(pid)) != nullptr;
}

bool knows_process(const State& state, ProcessFile file, int pid) {
  if (file == ProcessFile::kNone) return false;
  if (scripted(state, pid) != nullptr) return true;
  // The machine simulates only the memory of real processes.
  if (file != ProcessFile::kStatm && file != ProcessFile::kCgroup) return false;
  return pid == getpid() || client(state, pid) >= 0;
}

int process_text(const State& state, ProcessFile file, int pid, std::string* text) {
  const ScriptedProcess* process = scripted(state, pid);
  if (!knows_process(state, file, pid)) {
    *text = client_text(state, file, pid);
    return text->empty() ? -ENOENT : 0;
  }
  if (file == ProcessFile::kStatm) *text = statm_text(state, pid);
  if (file == ProcessFile::kCgroup) *text = "0::" UMASIM_CGROUP "\n";
  if (process == nullptr) return 0;
  if (file == ProcessFile::kComm) *text = std::string(process->name) + "\n";
  if (file == ProcessFile::kCmdline) *text = std::string(process->name) + '\0';
  if (file == ProcessFile::kStat) *text = stat_text(state, *process);
  if (file == ProcessFile::kStatus) *text = status_text(state, {process->name, pid, 1});
  return 0;
}

}  // namespace umasim

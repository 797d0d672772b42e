#include "sim/linux/clients.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "sim/linux/block_table.h"
#include "sim/state/raw_syscalls.h"

namespace umasim {

uint64_t process_start(int pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const std::string stat = raw_read_file(path, 1024);
  // Field 2, the name in parentheses, may contain any character; field 3 follows its last ')'.
  const size_t end_of_name = stat.rfind(')');
  if (end_of_name == std::string::npos || end_of_name + 2 >= stat.size()) return 0;
  const char process_state = stat[end_of_name + 2];
  if (process_state == 'Z' || process_state == 'X') return 0;
  size_t begin = end_of_name + 1;
  for (int field = 3; field < 22; field++) {
    begin = stat.find(' ', begin + 1);
    if (begin == std::string::npos) return 0;
  }
  return std::strtoull(stat.c_str() + begin, nullptr, 10);
}

int client_of_this_process(State& state) {
  const int pid = getpid();
  int free_slot = -1;
  for (int i = 0; i < kMaxClients; i++) {
    if (state.clients[i].pid == pid) return i;
    if (state.clients[i].pid == 0 && free_slot < 0) free_slot = i;
  }
  if (free_slot < 0) return -1;
  state.clients[free_slot] = {pid, process_start(pid)};
  return free_slot;
}

void reap_dead_clients(State& state) {
  const int self = getpid();
  for (int i = 0; i < kMaxClients; i++) {
    Client& client = state.clients[i];
    if (client.pid == 0 || client.pid == self) continue;
    if (process_start(client.pid) == client.start_ticks) continue;
    Death death{state.world.now_ms, client.pid, 0, false};
    for (int id = 0; id < state.block_limit; id++) {
      const Block& block = state.blocks[id];
      if (block.kind == BlockKind::kNone || block.client != i) continue;
      death.bytes += block.host_bytes + block.device_bytes;
      // A lazy block is made in no time, so only other kinds can be cut off.
      const bool lazy = block.kind == BlockKind::kManaged || block.kind == BlockKind::kSystem;
      death.cut_off = death.cut_off || (!block.complete && !lazy);
      free_block(state, id, Freeing::kByExit);
    }
    client.pid = 0;
    if (death.cut_off) state.world.counters.allocations_cut_off++;
    if (state.death_count < kMaxDeaths) state.deaths[state.death_count++] = death;
  }
}

}  // namespace umasim

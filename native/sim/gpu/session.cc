#include "sim/gpu/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

// Sessions are never destroyed, because a call of another thread may still use one.
std::atomic<Session*> current{nullptr};
std::atomic<int> failure{ENXIO};
std::mutex attaching;
std::vector<Session*>& sessions() {
  static std::vector<Session*>& all = *new std::vector<Session*>;
  return all;
}
// attach_session() sets it. If it is empty, UMAPROBE_SIM decides.
std::string& attached_path() {
  static std::string& path = *new std::string;
  return path;
}

// Frees the blocks of the program that this process ran before exec(), which freed their memory.
void free_blocks_before_exec(State& state) {
  const Locked locked(state);
  for (int i = 0; i < kMaxClients; i++) {
    if (state.clients[i].pid != getpid()) continue;
    for (int id = 0; id < state.block_limit; id++) {
      if (state.blocks[id].kind != BlockKind::kNone && state.blocks[id].client == i) {
        free_block(state, id, Freeing::kByCall);
      }
    }
    state.clients[i].pid = 0;
  }
}

Session* attach(const std::string& path) {
  for (Session* known : sessions()) {
    if (known->path == path && known->pid == getpid()) return known;
  }
  State* state = map_state(path.c_str());
  if (state == nullptr) {
    failure = errno == ENOENT ? ENXIO : errno;
    return nullptr;
  }
  free_blocks_before_exec(*state);
  Session* made = new Session;
  made->state = state;
  made->pid = getpid();
  made->path = path;
  sessions().push_back(made);
  return made;
}

}  // namespace

int attach_session(const char* path) {
  const std::lock_guard<std::mutex> guard(attaching);
  // The process may still leave the machine of UMAPROBE_SIM: a preloaded program is on it before
  // main() runs.
  if (!attached_path().empty() && attached_path() != path) return -EBUSY;
  Session* made = attach(path);
  if (made == nullptr) return -failure;
  attached_path() = path;
  current = made;
  return 0;
}

Session* refresh_session() {
  const std::lock_guard<std::mutex> guard(attaching);
  // An attached process does not read the environment, which another thread may be changing.
  const char* path =
      attached_path().empty() ? std::getenv("UMAPROBE_SIM") : attached_path().c_str();
  if (path == nullptr || *path == '\0') {
    failure = ENXIO;
    current = nullptr;
  } else {
    current = attach(path);
  }
  return current;
}

Session* session() {
  Session* known = current;
  if (known != nullptr && known->pid == getpid()) return known;
  return refresh_session();
}

int no_session_errno() { return failure; }

}  // namespace umasim

#include "sim/gpu/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "sim/linux/block_table.h"
#include "sim/linux/clients.h"
#include "sim/linux/locked.h"

namespace umasim {
namespace {

// Sessions are never destroyed: another thread may be in the middle of a call on one.
std::atomic<Session*> current{nullptr};
std::atomic<int> failure{ENXIO};
std::mutex attaching;
std::vector<Session*>& sessions() {
  static std::vector<Session*>& all = *new std::vector<Session*>;
  return all;
}
// Of attach_session(); empty: the environment decides.
std::string& attached_path() {
  static std::string& path = *new std::string;
  return path;
}

// Blocks of a program that this process was before it called exec(): its memory is gone.
void forget_former_self(State& state) {
  const Locked locked(state);
  for (int i = 0; i < kMaxClients; i++) {
    if (state.clients[i].pid != getpid()) continue;
    for (int id = 0; id < state.block_limit; id++) {
      if (state.blocks[id].kind != Kind::kNone && state.blocks[id].client == i) {
        return_block(state, id, Return::kNow);
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
  forget_former_self(*state);
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
  // A machine that only the environment named can still be left: a preloaded program is on it
  // before its first line runs.
  if (!attached_path().empty() && attached_path() != path) return -EBUSY;
  Session* made = attach(path);
  if (made == nullptr) return -failure;
  attached_path() = path;
  current = made;
  return 0;
}

Session* fresh_session() {
  const std::lock_guard<std::mutex> guard(attaching);
  // Not looked at once attached: another thread may be changing the environment.
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
  return fresh_session();
}

int no_session_errno() { return failure; }

}  // namespace umasim

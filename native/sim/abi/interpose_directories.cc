// opendir(), readdir() and their like in a preloaded program: a directory of /proc or /sys shows
// the names of the real one and those that only the simulated machine has, such as the scripted
// processes in /proc, and not those that the machine lacks.
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "sim/abi/export.h"
#include "sim/abi/interpose.h"
#include "sim/gpu/session.h"
#include "sim/linux/locked.h"
#include "sim/linux/procfs.h"

#undef readdir
#undef readdir64

namespace umasim {
namespace {

// An open directory with simulated names.
struct Listing {
  std::string path;
  std::set<std::string> names;   // names that the machine has
  std::set<std::string> hidden;  // names of the real directory that the machine lacks
  std::set<std::string> unread;  // `names` that the real directory has not shown yet
  bool shows_real;               // false: the real stream is that of another directory
  dirent entry;                  // the result of the last readdir()
};

std::mutex& guard = *new std::mutex;
std::map<DIR*, Listing>& listings = *new std::map<DIR*, Listing>;
std::atomic<int> open_listings{0};

// The path of a directory without a slash at its end.
std::string plain(const char* path) {
  std::string text = path;
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool concerns(const char* path) {
  return path != nullptr && preloaded() &&
         (may_be_simulated(path) || plain(path) == "/proc" || plain(path) == "/sys");
}

// Returns the machine's names for a directory; none for one that it does not concern.
Listing listing_of(const std::string& path) {
  Listing listing{path, {}, {}, {}, true, {}};
  Session* current = session();
  if (current == nullptr) return listing;
  const Locked locked(*current->state);
  if (!locked.held()) return listing;
  listing.names = names_in(*current->state, path, Names::kPresent);
  listing.hidden = names_in(*current->state, path, Names::kAbsent);
  listing.unread = listing.names;
  return listing;
}

bool says_nothing(const Listing& listing) {
  return listing.names.empty() && listing.hidden.empty();
}

void remember(DIR* stream, Listing listing) {
  const std::lock_guard<std::mutex> held(guard);
  listings[stream] = std::move(listing);
  open_listings = static_cast<int>(listings.size());
}

Listing* find(DIR* stream) {
  if (open_listings == 0) return nullptr;
  const std::lock_guard<std::mutex> held(guard);
  const auto listing = listings.find(stream);
  return listing == listings.end() ? nullptr : &listing->second;
}

// The next entry of the real stream, without hidden names; null at its end.
template <typename Entry>
Entry* next_real(const char* name, DIR* stream, Listing& listing) {
  const auto real = next<Entry*(DIR*)>(name);
  while (Entry* entry = real(stream)) {
    listing.unread.erase(entry->d_name);
    if (listing.hidden.count(entry->d_name) == 0) return entry;
  }
  return nullptr;
}

// Returns the next name of the machine; null after the last.
dirent* next_simulated(Listing& listing) {
  if (listing.unread.empty()) return nullptr;
  const std::string name = *listing.unread.begin();
  listing.unread.erase(listing.unread.begin());
  listing.entry = {};
  listing.entry.d_ino = std::hash<std::string>()(listing.path + "/" + name);
  listing.entry.d_reclen = sizeof listing.entry;
  listing.entry.d_type = DT_UNKNOWN;
  std::snprintf(listing.entry.d_name, sizeof listing.entry.d_name, "%s", name.c_str());
  return &listing.entry;
}

static_assert(sizeof(dirent) == sizeof(dirent64), "one entry serves readdir and readdir64");

template <typename Entry>
Entry* read_or_forward(const char* name, DIR* stream) {
  Listing* listing = find(stream);
  if (listing == nullptr) return next<Entry*(DIR*)>(name)(stream);
  const int before = errno;
  if (listing->shows_real) {
    if (Entry* entry = next_real<Entry>(name, stream, *listing)) return entry;
  }
  errno = before;
  return reinterpret_cast<Entry*>(next_simulated(*listing));
}

// The path behind a descriptor; empty if unknown.
std::string path_of(int fd) {
  char link[40], target[256];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : std::string();
}

}  // namespace
}  // namespace umasim

using namespace umasim;

UMASIM_API DIR* opendir(const char* path) {
  const auto real = next<DIR*(const char*)>(__func__);
  DIR* stream = real(path);
  if (!concerns(path)) return stream;
  Listing listing = listing_of(plain(path));
  listing.shows_real = stream != nullptr;
  // A directory that only the machine has needs a stream all the same.
  if (stream == nullptr && errno == ENOENT && !listing.names.empty()) stream = real("/proc");
  if (stream != nullptr && !says_nothing(listing)) remember(stream, std::move(listing));
  return stream;
}

UMASIM_API DIR* fdopendir(int fd) {
  DIR* stream = next<DIR*(int)>(__func__)(fd);
  if (stream == nullptr || !preloaded()) return stream;
  const std::string path = path_of(fd);
  if (!concerns(path.c_str())) return stream;
  Listing listing = listing_of(path);
  if (!says_nothing(listing)) remember(stream, std::move(listing));
  return stream;
}

UMASIM_API dirent* readdir(DIR* stream) { return read_or_forward<dirent>(__func__, stream); }
UMASIM_API dirent64* readdir64(DIR* stream) { return read_or_forward<dirent64>(__func__, stream); }

UMASIM_API void rewinddir(DIR* stream) noexcept {
  if (Listing* listing = find(stream)) listing->unread = listing->names;
  next<void(DIR*)>(__func__)(stream);
}

UMASIM_API int closedir(DIR* stream) {
  if (open_listings > 0) {
    const std::lock_guard<std::mutex> held(guard);
    listings.erase(stream);
    open_listings = static_cast<int>(listings.size());
  }
  return next<int(DIR*)>(__func__)(stream);
}

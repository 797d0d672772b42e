// A walk over files and trees: what of each file is in the page cache, and its eviction where
// asked. Goes on in slices on the lane for the kernel; what was found waits here until JavaScript
// takes it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "file_systems.h"
#include "pagecache.h"
#include "path_text.h"
#include "tree.h"

struct stat;

namespace umaprobe {

struct WalkOptions {
  CacheMethod method;
  bool evict;
  bool sync;  // write dirty pages before
  bool list_empty;
};

// NativeCachedFile of lib/native.types.ts.
struct WalkEntry {
  PathText path;
  const char* what;
  std::optional<double> bytes;
  std::optional<double> dev;
  std::optional<double> ino;
  std::optional<CachedPages> pages;
  bool memory = false;
  std::optional<double> cached_after;
  std::optional<double> sync_ms;
  std::optional<Failure> failure;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("path", path);
    field("what", std::string(what));
    field("bytes", bytes);
    field("dev", dev);
    field("ino", ino);
    if (pages) {
      field("cached", pages->cached);
      field.nullable("dirty", pages->dirty);
      field.nullable("writeback", pages->writeback);
    }
    if (memory) field("memory", true);
    field("cachedAfter", cached_after);
    field("syncMs", sync_ms);
    field("failure", failure);
  }
};

// Since the walk began.
struct WalkSums {
  double files = 0;
  double directories = 0;
  double links = 0;
  double special = 0;
  double problems = 0;
  double vanished = 0;
  double pseudo = 0;
  double unseen = 0;
  double unseen_bytes = 0;
  double bytes = 0;
  double cached = 0;
  double memory = 0;
  std::optional<double> dirty;
  std::optional<double> writeback;
  double cached_after = 0;
  double sync_ms = 0;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("files", files);
    field("directories", directories);
    field("links", links);
    field("special", special);
    field("problems", problems);
    field("vanished", vanished);
    field("pseudo", pseudo);
    field("unseen", unseen);
    field("unseenBytes", unseen_bytes);
    field("bytes", bytes);
    field("cached", cached);
    field("memory", memory);
    field.nullable("dirty", dirty);
    field.nullable("writeback", writeback);
    field("cachedAfter", cached_after);
    field("syncMs", sync_ms);
  }
};

// NativeWalkBatch.
struct WalkBatch {
  const char* method;
  std::vector<WalkEntry> entries;
  WalkSums sums;
  PathText path;
  bool done;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("method", std::string(method));
    field("entries", entries);
    sums.visit(field);
    field("path", path);
    field("done", done);
  }
};

class Walk {
 public:
  Walk(std::vector<std::string> paths, WalkOptions options);

  // On the lane's thread: until the time is over, the outbox is full, or there is nothing more.
  void go_on(Flight& flight, Clock::duration slice);

  // On the JavaScript thread: what was found since the last time, at most some 500 entries.
  WalkBatch take();

  // From any thread: the slice that is on its way ends at the next file.
  void end() { ended_.store(true, std::memory_order_relaxed); }

 private:
  struct Identity {
    dev_t dev;
    ino_t ino;
    bool operator==(const Identity& other) const { return dev == other.dev && ino == other.ino; }
  };
  struct IdentityHash {
    size_t operator()(const Identity& inode) const {
      return (inode.ino * 0x9E3779B97F4A7C15ull) ^ (inode.dev * 0xC2B2AE3D27D4EB4Full);
    }
  };
  // A file that is being evicted.
  struct Evicting {
    Descriptor file;
    Eviction eviction;
    uint64_t size;
    WalkEntry entry;
  };

  // One step; false: there is nothing more.
  bool advance(Flight& flight);
  void begin_root(Flight& flight, const std::string& path);
  void visit(Flight& flight, const TreeEntry& name);
  void visit_directory(Flight& flight, const std::string& name);
  void visit_file(Flight& flight, const std::string& name);
  void enter(Flight& flight, Descriptor directory, const struct stat& about,
             const std::string& name);
  void look(Flight& flight, Descriptor file, const struct stat& about, const std::string& path);
  void step_eviction(Flight& flight);
  void finish_eviction(Flight& flight);

  void listed(const char* what, const std::string& path);
  void problem(const std::string& path, Failure failure);
  void not_opened(const std::string& path, const char* call, int error);
  void deliver(WalkEntry entry);
  bool full();

  const std::vector<std::string> roots_;
  const WalkOptions options_;
  std::atomic<bool> ended_{false};

  // Of the lane's thread.
  size_t next_root_ = 0;
  Tree tree_;
  std::optional<Evicting> evicting_;
  std::unordered_set<Identity, IdentityHash> seen_;
  FileSystems file_systems_;

  // Shared.
  std::mutex mutex_;
  std::vector<WalkEntry> outbox_;
  size_t outbox_bytes_ = 0;
  WalkSums sums_;
  std::string at_path_;
  bool done_ = false;
};

}  // namespace umaprobe

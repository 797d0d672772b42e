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
#include "value.h"

struct stat;

namespace umaprobe {

struct WalkOptions {
  CacheMethod method;
  bool evict;
  bool sync;  // write dirty pages before
  bool list_empty;
  // Of the files with something in cache only those are listed which have, or had when they were
  // met, a place among so many with the most.
  size_t top;
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
  const char* method = "";
  std::vector<WalkEntry> entries;
  Numbers inodes;  // of each file with something in cache: dev, ino, cached, cachedAfter
  WalkSums sums;
  PathText path;
  bool done = false;

  template <class Visitor>
  void visit(Visitor& field) const {
    field("method", std::string(method));
    field("entries", entries);
    field("inodes", inodes);
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
    std::string name;
  };

  void hand_over();
  // One step; false: there is nothing more.
  bool advance(Flight& flight);
  void begin_root(Flight& flight, const std::string& path);
  void visit(Flight& flight, const TreeEntry& name);
  void visit_directory(Flight& flight, const std::string& name);
  void visit_file(Flight& flight, const std::string& name);
  void enter(Descriptor directory, const struct stat& about, const std::string& name);
  // `name`: below the directory where the walk is, or a given path.
  void look(Flight& flight, Descriptor file, const struct stat& about, const std::string& name);
  void step_eviction(Flight& flight);
  void finish_eviction(Flight& flight);

  void counted(double& sum, const char* what, const std::string& name);
  void problem(const std::string& name, Failure failure);
  void not_opened(const std::string& name, const char* call, int error);
  // `entry` without its path, which is made for what is listed only.
  void deliver(WalkEntry entry, const std::string& name);
  bool listed(const WalkEntry& entry);
  void list(WalkEntry entry, const std::string& name);
  bool full(size_t waiting) const;

  const std::vector<std::string> roots_;
  const WalkOptions options_;
  std::atomic<bool> ended_{false};

  // Of the lane's thread.
  size_t next_root_ = 0;
  Tree tree_;
  std::optional<Evicting> evicting_;
  std::unordered_set<Identity, IdentityHash> seen_;
  FileSystems file_systems_;

  WalkBatch found_;  // in this slice, and what JavaScript has not taken of earlier ones
  size_t found_bytes_ = 0;
  std::vector<double> top_;  // a heap, the least first

  // Shared.
  std::mutex mutex_;
  WalkBatch outbox_;
};

}  // namespace umaprobe

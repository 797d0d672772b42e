// What a walk has found: entries to be listed, sums, and how they get to the JavaScript thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/values.h"
#include "pagecache/pagecache.h"

namespace umaprobe {

struct WalkOptions {
  CacheMethod method;
  bool evict;
  bool sync;  // write dirty pages before
  bool list_empty;
  // Of the files with something in cache only those are listed which have, or had when they were
  // met, a place among so many with the most, and those of which an eviction left something.
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

// Filled on the lane's thread, handed over at the end of a slice, taken on the JavaScript thread.
class WalkResults {
 public:
  explicit WalkResults(const WalkOptions& options);

  // A directory, link, special file, vanished name: adds one to `sum`.
  void count(double WalkSums::*sum) { ++(found_.sums.*sum); }
  // The same for what is listed where everything is.
  void count(double WalkSums::*sum, const char* what, const std::string& path);
  bool lists_all() const { return options_.list_empty; }
  void problem(const std::string& path, Failure failure);

  // A file. True: it is to be listed, and this is to be followed by list().
  bool add(WalkEntry& entry);
  void list(WalkEntry entry, const std::string& path);

  void at(const std::string& path) { found_.path.bytes = path; }
  void done() { found_.done = true; }

  // A slice begins: what waited may have been taken meanwhile.
  void begin();
  // So much waits to be taken that there is a batch.
  bool full() const;
  void publish();
  WalkBatch take();

 private:
  bool listed(const WalkEntry& entry);

  const WalkOptions options_;
  WalkBatch found_;  // since the last hand_over()
  size_t path_bytes_ = 0;
  size_t waiting_ = 0;       // entries in the outbox when the slice began
  std::vector<double> top_;  // a heap, the least first

  std::mutex mutex_;
  WalkBatch published_;
};

}  // namespace umaprobe

// The results of a walk: listed entries and sums, and their transfer to the JavaScript thread.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/values.h"
#include "pagecache/cached_pages.h"

namespace umaprobe {

struct WalkOptions {
  CacheMethod method;
  bool evict;
  bool sync;        // write dirty pages before evicting
  bool list_empty;  // list files without cached pages, links and special files, too
  // List only files that are among the `top` most-cached seen so far, and files with pages that an
  // eviction left. The union of all batches therefore contains the overall top N.
  size_t top;
};

// NativeCachedFile of lib/core/native/contract.ts.
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

// Totals since the start of the walk.
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

// NativeWalkBatch of lib/core/native/contract.ts.
struct WalkBatch {
  const char* method = "";
  std::vector<WalkEntry> entries;
  Numbers inodes;  // dev, ino, cached, cachedAfter of each file with cached pages
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

// The worker thread fills it and publishes it at the end of a slice; the JavaScript thread takes
// it.
class WalkResults {
 public:
  explicit WalkResults(const WalkOptions& options);

  // Adds one to `sum`: a directory, link, special file or vanished name.
  void count(double WalkSums::*sum) { ++(current_.sums.*sum); }
  // Also lists the path if everything is listed.
  void count(double WalkSums::*sum, const char* what, const std::string& path);
  bool lists_all() const { return options_.list_empty; }
  void problem(const std::string& path, Failure failure);

  // Adds a file to the sums. If true, the caller must pass the entry to list().
  bool add(WalkEntry& entry);
  void list(WalkEntry entry, const std::string& path);

  void set_path(const std::string& path);
  // Returns, on any thread, the path that was last set.
  std::string path() const;
  void set_done() { current_.done = true; }

  // Begins a slice. Published results may have been taken since the last one.
  void begin_slice();
  // The pending results fill a batch.
  bool full() const;
  void publish();
  WalkBatch take();

 private:
  bool is_listed(const WalkEntry& entry);

  const WalkOptions options_;
  WalkBatch current_;  // results since the last publish()
  size_t path_bytes_ = 0;
  size_t waiting_ = 0;       // published entries not taken when the slice began
  std::vector<double> top_;  // min-heap of cached bytes

  mutable std::mutex mutex_;
  WalkBatch published_;
  std::string path_;
};

}  // namespace umaprobe

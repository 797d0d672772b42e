// A walk over files and directory trees that counts, and on request evicts, cached pages. It runs
// in slices on the host worker thread; results wait until JavaScript takes them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "pagecache/file_systems.h"
#include "pagecache/inode_set.h"
#include "pagecache/inspect.h"
#include "pagecache/tree.h"
#include "pagecache/walk_results.h"
#include "runtime/thread_pool.h"

namespace umaprobe {

class Walk {
 public:
  Walk(std::vector<std::string> paths, WalkOptions options);

  // Walks, on the worker thread, until the slice is over, a batch is full, or the walk is done.
  void run_slice(CallContext& context, Clock::duration slice);

  // Returns, on the JavaScript thread, the results since the last call, at most some 450 entries.
  WalkBatch take() { return results_.take(); }

  // Returns, on any thread, where the walk is, also while a slice is blocked there.
  std::string path() const { return results_.path(); }

  // Ends, on any thread, a slice in progress at the next file.
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  // The file that is being evicted.
  struct Evicting {
    Descriptor file;
    Eviction eviction;
    uint64_t size;
    WalkEntry entry;
    std::string name;
  };

  // Makes one step. False if the walk is done.
  bool advance(CallContext& context, ThreadPool& pool);
  void begin_root(CallContext& context, const std::string& path);
  void advance_in_directory(CallContext& context, ThreadPool& pool);
  void enter_subdirectory(CallContext& context, const std::string& name);
  void enter(Descriptor directory, const struct stat& about, const std::string& name);
  bool read_names(CallContext& context);
  void inspect_files(CallContext& context, ThreadPool& pool);
  void begin_queued_eviction(CallContext& context);
  void record_file(CallContext& context, const std::string& name, Inspected file);
  void begin_eviction(CallContext& context, WalkEntry entry, const std::string& name,
                      Descriptor file);
  void finish_eviction(CallContext& context);
  void add_entry(WalkEntry entry, const std::string& name);

  bool seen_before(const struct stat& about);
  void count(double WalkSums::*sum, const char* what, const std::string& name);
  void record_open_failure(const std::string& name, const char* call, int error);

  const std::vector<std::string> roots_;
  const WalkOptions options_;
  WalkResults results_;
  std::atomic<bool> cancelled_{false};

  // Only the worker thread uses these.
  size_t next_root_ = 0;
  Tree tree_;
  std::vector<std::string> files_;           // names in the current directory, to be inspected
  std::vector<std::string> evict_queue_;     // inspected, to be evicted one by one
  std::optional<std::string> subdirectory_;  // entered after these files
  std::optional<Evicting> evicting_;
  InodeSet seen_;
  FileSystems file_systems_;
};

}  // namespace umaprobe

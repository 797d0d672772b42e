// A walk over files and trees: what of each file is in the page cache, and its eviction where
// asked. Goes on in slices on the lane for the kernel; what was found waits until JavaScript takes
// it.
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

  // On the lane's thread: until the time is over, there is a batch, or there is nothing more.
  void go_on(CallContext& context, Clock::duration slice);

  // On the JavaScript thread: what was found since the last time, at most some 450 entries.
  WalkBatch take() { return found_.take(); }

  // From any thread: the slice that is on its way ends at the next file.
  void end() { ended_.store(true, std::memory_order_relaxed); }

 private:
  // A file that is being evicted.
  struct Evicting {
    Descriptor file;
    Eviction eviction;
    uint64_t size;
    WalkEntry entry;
    std::string name;
  };

  // One step; false: there is nothing more.
  bool advance(CallContext& context, ThreadPool& pool);
  void begin_root(CallContext& context, const std::string& path);
  void go_on_in_directory(CallContext& context, ThreadPool& pool);
  void enter_directory(CallContext& context, const std::string& name);
  void enter(Descriptor directory, const struct stat& about, const std::string& name);
  bool read_names(CallContext& context);
  void inspect_files(CallContext& context, ThreadPool& pool);
  void begin_eviction(CallContext& context);
  void look(CallContext& context, const std::string& name, Inspected file);
  void evict(CallContext& context, WalkEntry entry, const std::string& name, Descriptor file);
  void finish_eviction(CallContext& context);
  void deliver(WalkEntry entry, const std::string& name);

  bool met_before(const struct stat& about);
  void count(double WalkSums::*sum, const char* what, const std::string& name);
  void not_opened(const std::string& name, const char* call, int error);

  const std::vector<std::string> roots_;
  const WalkOptions options_;
  WalkResults found_;
  std::atomic<bool> ended_{false};

  // Of the lane's thread.
  size_t next_root_ = 0;
  Tree tree_;
  std::vector<std::string> files_;    // names in the directory where it is, to be inspected
  std::vector<std::string> later_;    // of those, what is to be evicted one by one
  std::optional<std::string> below_;  // a directory in it, to be entered after them
  std::optional<Evicting> evicting_;
  InodeSet seen_;
  FileSystems file_systems_;
};

}  // namespace umaprobe

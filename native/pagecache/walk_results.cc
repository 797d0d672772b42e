#include "pagecache/walk_results.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace umaprobe {
namespace {

// So that turning a batch into JavaScript's objects blocks its thread for some 2 ms at most, the
// files of the last look included.
constexpr size_t kMostEntries = 200;
constexpr size_t kMostPathBytes = 256u << 10;
// Nobody reads more of them; all are counted.
constexpr double kMostProblems = 100;

template <class T>
void move_to(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

Found::Found(const WalkOptions& options) : options_(options) {
  found_.method = options.method == CacheMethod::kCachestat ? "cachestat" : "mincore";
  if (options.method == CacheMethod::kCachestat) {
    found_.sums.dirty = 0;
    found_.sums.writeback = 0;
  }
}

void Found::count(double WalkSums::*sum, const char* what, const std::string& path) {
  count(sum);
  if (options_.list_empty) list({{}, what, {}, {}, {}, {}, false, {}, {}, {}}, path);
}

void Found::problem(const std::string& path, Failure failure) {
  count(&WalkSums::problems);
  if (found_.sums.problems > kMostProblems && !options_.list_empty) return;
  list({{}, "problem", {}, {}, {}, {}, false, {}, {}, std::move(failure)}, path);
}

bool Found::add(WalkEntry& entry) {
  WalkSums& sums = found_.sums;
  ++sums.files;
  sums.bytes += *entry.bytes;
  sums.sync_ms += entry.sync_ms.value_or(0);
  if (!entry.pages) {
    ++sums.unseen;
    sums.unseen_bytes += *entry.bytes;
    return listed(entry);
  }
  const auto cached = static_cast<double>(entry.pages->cached);
  sums.cached += cached;
  if (entry.memory) sums.memory += cached;
  if (sums.dirty) *sums.dirty += static_cast<double>(entry.pages->dirty.value_or(0));
  if (sums.writeback) *sums.writeback += static_cast<double>(entry.pages->writeback.value_or(0));
  // Not asked to go: nothing there, or nowhere to go.
  if (options_.evict && !entry.cached_after) entry.cached_after = cached;
  sums.cached_after += entry.cached_after.value_or(0);
  if (cached > 0) {
    auto& inodes = found_.inodes.values;
    inodes.insert(inodes.end(),
                  {*entry.dev, *entry.ino, cached, entry.cached_after.value_or(cached)});
  }
  return listed(entry);
}

bool Found::listed(const WalkEntry& entry) {
  if (entry.failure) return entry.pages || found_.sums.unseen <= static_cast<double>(options_.top);
  const auto cached = static_cast<double>(entry.pages->cached);
  if (cached == 0) return options_.list_empty;
  const bool stayed = options_.evict && entry.cached_after.value_or(0) > 0;
  if (top_.size() >= options_.top) {
    if (top_.empty() || cached <= top_.front()) return stayed;
    std::pop_heap(top_.begin(), top_.end(), std::greater<>());
    top_.pop_back();
  }
  if (options_.top != SIZE_MAX) {
    top_.push_back(cached);
    std::push_heap(top_.begin(), top_.end(), std::greater<>());
  }
  return true;
}

void Found::list(WalkEntry entry, const std::string& path) {
  entry.path.bytes = path;
  path_bytes_ += path.size();
  found_.entries.push_back(std::move(entry));
}

void Found::begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_ = outbox_.entries.size();
}

bool Found::full() const {
  return found_.entries.size() + waiting_ >= kMostEntries || path_bytes_ >= kMostPathBytes;
}

void Found::hand_over() {
  std::lock_guard<std::mutex> lock(mutex_);
  move_to(found_.entries, outbox_.entries);
  move_to(found_.inodes.values, outbox_.inodes.values);
  outbox_.method = found_.method;
  outbox_.sums = found_.sums;
  outbox_.path = found_.path;
  outbox_.done = found_.done;
  path_bytes_ = 0;
}

WalkBatch Found::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  WalkBatch batch = std::move(outbox_);
  outbox_ = WalkBatch{};
  outbox_.method = batch.method;
  outbox_.sums = batch.sums;
  outbox_.path = batch.path;
  outbox_.done = batch.done;
  return batch;
}

}  // namespace umaprobe

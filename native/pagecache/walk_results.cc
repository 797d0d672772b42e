#include "pagecache/walk_results.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace umaprobe {
namespace {

// So that turning a batch into JavaScript's objects blocks its thread for some 2 ms at most, the
// files of the last look included.
constexpr size_t kMaxEntries = 200;
constexpr size_t kMaxPathBytes = 256u << 10;
// Nobody reads more of them; all are counted.
constexpr double kMaxProblems = 100;

template <class T>
void move_to(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

WalkResults::WalkResults(const WalkOptions& options) : options_(options) {
  found_.method = options.method == CacheMethod::kCachestat ? "cachestat" : "mincore";
  if (options.method == CacheMethod::kCachestat) {
    found_.sums.dirty = 0;
    found_.sums.writeback = 0;
  }
}

void WalkResults::count(double WalkSums::*sum, const char* what, const std::string& path) {
  count(sum);
  if (options_.list_empty) list({{}, what, {}, {}, {}, {}, false, {}, {}, {}}, path);
}

void WalkResults::problem(const std::string& path, Failure failure) {
  count(&WalkSums::problems);
  if (found_.sums.problems > kMaxProblems && !options_.list_empty) return;
  list({{}, "problem", {}, {}, {}, {}, false, {}, {}, std::move(failure)}, path);
}

bool WalkResults::add(WalkEntry& entry) {
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

bool WalkResults::listed(const WalkEntry& entry) {
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

void WalkResults::list(WalkEntry entry, const std::string& path) {
  entry.path.bytes = path;
  path_bytes_ += path.size();
  found_.entries.push_back(std::move(entry));
}

void WalkResults::begin() {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_ = published_.entries.size();
}

bool WalkResults::full() const {
  return found_.entries.size() + waiting_ >= kMaxEntries || path_bytes_ >= kMaxPathBytes;
}

void WalkResults::publish() {
  std::lock_guard<std::mutex> lock(mutex_);
  move_to(found_.entries, published_.entries);
  move_to(found_.inodes.values, published_.inodes.values);
  published_.method = found_.method;
  published_.sums = found_.sums;
  published_.path = found_.path;
  published_.done = found_.done;
  path_bytes_ = 0;
}

WalkBatch WalkResults::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  WalkBatch batch = std::move(published_);
  published_ = WalkBatch{};
  published_.method = batch.method;
  published_.sums = batch.sums;
  published_.path = batch.path;
  published_.done = batch.done;
  return batch;
}

}  // namespace umaprobe

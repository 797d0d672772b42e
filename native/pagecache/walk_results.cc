#include "pagecache/walk_results.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace umaprobe {
namespace {

// Batch size: converting this many entries, plus the files of the last step, blocks the JavaScript
// thread for some 2 ms.
constexpr size_t kMaxEntries = 200;
constexpr size_t kMaxPathBytes = 256u << 10;
// Problems listed; further ones are only counted.
constexpr double kMaxProblems = 100;

template <class T>
void move_to(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

}  // namespace

WalkResults::WalkResults(const WalkOptions& options) : options_(options) {
  current_.method = options.method == CacheMethod::kCachestat ? "cachestat" : "mincore";
  if (options.method == CacheMethod::kCachestat) {
    current_.sums.dirty = 0;
    current_.sums.writeback = 0;
  }
}

void WalkResults::count(double WalkSums::*sum, const char* what, const std::string& path) {
  count(sum);
  if (options_.list_empty) list({{}, what, {}, {}, {}, {}, false, {}, {}, {}}, path);
}

void WalkResults::problem(const std::string& path, Failure failure) {
  count(&WalkSums::problems);
  if (current_.sums.problems > kMaxProblems && !options_.list_empty) return;
  list({{}, "problem", {}, {}, {}, {}, false, {}, {}, std::move(failure)}, path);
}

bool WalkResults::add(WalkEntry& entry) {
  WalkSums& sums = current_.sums;
  ++sums.files;
  sums.bytes += *entry.bytes;
  sums.sync_ms += entry.sync_ms.value_or(0);
  if (!entry.pages) {
    ++sums.unseen;
    sums.unseen_bytes += *entry.bytes;
    return is_listed(entry);
  }
  const auto cached = static_cast<double>(entry.pages->cached);
  sums.cached += cached;
  if (entry.memory) sums.memory += cached;
  if (sums.dirty) *sums.dirty += static_cast<double>(entry.pages->dirty.value_or(0));
  if (sums.writeback) *sums.writeback += static_cast<double>(entry.pages->writeback.value_or(0));
  // The file was not evicted: nothing is cached, or the cache is the file (tmpfs).
  if (options_.evict && !entry.cached_after) entry.cached_after = cached;
  sums.cached_after += entry.cached_after.value_or(0);
  if (cached > 0) {
    auto& inodes = current_.inodes.values;
    inodes.insert(inodes.end(),
                  {*entry.dev, *entry.ino, cached, entry.cached_after.value_or(cached)});
  }
  return is_listed(entry);
}

bool WalkResults::is_listed(const WalkEntry& entry) {
  if (entry.failure)
    return entry.pages || current_.sums.unseen <= static_cast<double>(options_.top);
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
  current_.entries.push_back(std::move(entry));
}

void WalkResults::set_path(const std::string& path) {
  current_.path.bytes = path;
  std::lock_guard<std::mutex> lock(mutex_);
  path_ = path;
}

std::string WalkResults::path() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return path_;
}

void WalkResults::begin_slice() {
  std::lock_guard<std::mutex> lock(mutex_);
  waiting_ = published_.entries.size();
}

bool WalkResults::full() const {
  return current_.entries.size() + waiting_ >= kMaxEntries || path_bytes_ >= kMaxPathBytes;
}

void WalkResults::publish() {
  std::lock_guard<std::mutex> lock(mutex_);
  move_to(current_.entries, published_.entries);
  move_to(current_.inodes.values, published_.inodes.values);
  published_.method = current_.method;
  published_.sums = current_.sums;
  published_.path = current_.path;
  published_.done = current_.done;
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

#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>

#include "errno_failure.h"

namespace umaprobe {
namespace {

// So that turning a batch into JavaScript's objects blocks its thread for some 2 ms at most.
constexpr size_t kMostEntries = 500;
constexpr size_t kMostPathBytes = 256u << 10;

Failure pseudo_failure(const std::string& path) {
  return {"umaprobe", "open", EINVAL, "EINVAL",
          path + " is on a file system without a page cache (proc, sysfs and the like)"};
}

}  // namespace

Walk::Walk(std::vector<std::string> paths, WalkOptions options)
    : roots_(std::move(paths)), options_(options) {
  found_.method = options.method == CacheMethod::kCachestat ? "cachestat" : "mincore";
  if (options.method == CacheMethod::kCachestat) {
    found_.sums.dirty = 0;
    found_.sums.writeback = 0;
  }
}

void Walk::go_on(Flight& flight, Clock::duration slice) {
  const auto until = Clock::now() + slice;
  const size_t waiting = [this] {
    std::lock_guard<std::mutex> lock(mutex_);
    return outbox_.entries.size();
  }();
  while (!full(waiting) && !ended_.load(std::memory_order_relaxed) && !flight.abandoned()) {
    found_.done = !advance(flight);
    if (found_.done || Clock::now() >= until) break;
  }
  if (!tree_.empty()) found_.path.bytes = tree_.path();
  hand_over();
}

void Walk::hand_over() {
  const auto move_to = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  };
  std::lock_guard<std::mutex> lock(mutex_);
  move_to(found_.entries, outbox_.entries);
  move_to(found_.inodes.values, outbox_.inodes.values);
  outbox_.method = found_.method;
  outbox_.sums = found_.sums;
  outbox_.path = found_.path;
  outbox_.done = found_.done;
  found_bytes_ = 0;
}

WalkBatch Walk::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  WalkBatch batch = outbox_;
  outbox_.entries.clear();
  outbox_.inodes.values.clear();
  return batch;
}

bool Walk::full(size_t waiting) const {
  return found_.entries.size() + waiting >= kMostEntries || found_bytes_ >= kMostPathBytes;
}

bool Walk::advance(Flight& flight) {
  if (evicting_) {
    step_eviction(flight);
    return true;
  }
  if (tree_.empty()) {
    if (next_root_ == roots_.size()) return false;
    begin_root(flight, roots_[next_root_++]);
    return true;
  }
  flight.enter("getdents64");
  if (const std::optional<TreeEntry> entry = tree_.next()) {
    visit(flight, *entry);
    return true;
  }
  if (errno != 0) problem("", errno_failure("kernel", "getdents64", errno));
  if (!tree_.leave()) problem("", errno_failure("kernel", "openat ..", errno));
  return true;
}

// A path that was given may be a link, and the file behind it is what is meant. What it is comes
// first: opening a device can have effects.
void Walk::begin_root(Flight& flight, const std::string& path) {
  found_.path.bytes = path;
  if (path.find('\0') != std::string::npos) return not_opened(path, "stat", EINVAL);
  flight.enter("stat");
  struct stat about {};
  if (::fstatat(AT_FDCWD, path.c_str(), &about, 0) != 0) return not_opened(path, "stat", errno);
  if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
    return counted(found_.sums.special, "special", path);
  flight.enter("open");
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor opened(::open(path.c_str(), flags | O_NOATIME));
  if (!opened && errno == EPERM) opened = Descriptor(::open(path.c_str(), flags));
  if (!opened) return not_opened(path, "open", errno);
  if (::fstat(opened.get(), &about) != 0) return not_opened(path, "fstat", errno);
  if (file_systems_.of(about.st_dev, opened.get()) == FileSystem::kPseudo)
    return problem(path, pseudo_failure(path));
  if (S_ISDIR(about.st_mode)) return enter(std::move(opened), about, path);
  look(flight, std::move(opened), about, path);
}

void Walk::visit(Flight& flight, const TreeEntry& entry) {
  unsigned char type = entry.type;
  if (type == DT_UNKNOWN) {
    flight.enter("fstatat");
    struct stat about {};
    if (::fstatat(tree_.directory(), entry.name.c_str(), &about,
                  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
      return not_opened(entry.name, "fstatat", errno);
    type = IFTODT(about.st_mode);
  }
  if (type == DT_REG) return visit_file(flight, entry.name);
  if (type == DT_DIR) return visit_directory(flight, entry.name);
  if (type == DT_LNK) return counted(found_.sums.links, "link", entry.name);
  counted(found_.sums.special, "special", entry.name);
}

void Walk::visit_directory(Flight& flight, const std::string& name) {
  flight.enter("openat");
  Descriptor directory = open_to_look(tree_.directory(), name.c_str(), O_DIRECTORY);
  if (!directory) return not_opened(name, "openat", errno);
  struct stat about {};
  if (::fstat(directory.get(), &about) != 0) return not_opened(name, "fstat", errno);
  if (about.st_dev != tree_.dev() &&
      file_systems_.of(about.st_dev, directory.get()) == FileSystem::kPseudo) {
    ++found_.sums.pseudo;
    return;
  }
  enter(std::move(directory), about, name);
}

void Walk::visit_file(Flight& flight, const std::string& name) {
  flight.enter("openat");
  Descriptor file = open_to_look(tree_.directory(), name.c_str());
  // Since the directory was read: ENXIO a socket or a FIFO, ELOOP a link took its place.
  if (!file && errno == ENXIO) return counted(found_.sums.special, "special", name);
  if (!file && errno == ELOOP) return counted(found_.sums.links, "link", name);
  if (!file) return not_opened(name, "openat", errno);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return not_opened(name, "fstat", errno);
  if (!S_ISREG(about.st_mode)) return counted(found_.sums.special, "special", name);
  look(flight, std::move(file), about, name);
}

void Walk::enter(Descriptor directory, const struct stat& about, const std::string& name) {
  // Met before: a path given twice, or a mount that shows a directory again.
  if (!seen_.insert({about.st_dev, about.st_ino}).second)
    return counted(found_.sums.links, "link", name);
  tree_.enter(std::move(directory), about.st_dev, about.st_ino, name);
  ++found_.sums.directories;
}

void Walk::look(Flight& flight, Descriptor file, const struct stat& about,
                const std::string& name) {
  if (!seen_.insert({about.st_dev, about.st_ino}).second)
    return counted(found_.sums.links, "link", name);
  const auto size = static_cast<uint64_t>(about.st_size);
  const bool memory = file_systems_.of(about.st_dev, file.get()) == FileSystem::kMemory;
  flight.enter(options_.method == CacheMethod::kCachestat ? "cachestat" : "mincore");
  Fact<CachedPages> found = cached_pages(options_.method, file.get(), 0, 0, size);
  WalkEntry entry{{}, "file", size, about.st_dev, about.st_ino, {}, memory, {}, {}, {}};
  if (const Failure* failure = failure_of(found)) {
    entry.failure = *failure;
  } else {
    entry.pages = std::get<CachedPages>(found);
  }
  const bool asked = options_.evict && !memory && (!entry.pages || entry.pages->cached > 0);
  if (!asked) return deliver(std::move(entry), name);
  Eviction eviction(options_.method, file.get(), size, entry.pages);
  evicting_.emplace(Evicting{std::move(file), eviction, size, std::move(entry), name});
  const bool sync = options_.sync && !(evicting_->entry.pages && evicting_->entry.pages->clean());
  if (!sync) return;
  const Fact<double> took = evicting_->eviction.sync(flight);
  if (const auto* milliseconds = std::get_if<double>(&took)) {
    evicting_->entry.sync_ms = *milliseconds;
    return;
  }
  evicting_->entry.failure = std::get<Failure>(took);
  finish_eviction(flight);
}

void Walk::step_eviction(Flight& flight) {
  if (evicting_->eviction.step(flight)) finish_eviction(flight);
}

void Walk::finish_eviction(Flight& flight) {
  const Evicting done = std::move(*evicting_);
  evicting_.reset();
  WalkEntry entry = done.entry;
  if (entry.pages) {
    flight.enter("cachestat");
    const Fact<CachedPages> left = cached_pages(options_.method, done.file.get(), 0, 0, done.size);
    if (const auto* pages = std::get_if<CachedPages>(&left)) entry.cached_after = pages->cached;
  }
  deliver(std::move(entry), done.name);
}

void Walk::counted(double& sum, const char* what, const std::string& name) {
  ++sum;
  if (options_.list_empty) list({{}, what, {}, {}, {}, {}, false, {}, {}, {}}, name);
}

void Walk::problem(const std::string& name, Failure failure) {
  ++found_.sums.problems;
  list({{}, "problem", {}, {}, {}, {}, false, {}, {}, std::move(failure)}, name);
}

// Below a given path, what is gone is gone. A given path that is not there is a mistake.
void Walk::not_opened(const std::string& name, const char* call, int error) {
  if (error != ENOENT || tree_.empty()) return problem(name, errno_failure("kernel", call, error));
  ++found_.sums.vanished;
}

void Walk::deliver(WalkEntry entry, const std::string& name) {
  WalkSums& sums = found_.sums;
  ++sums.files;
  sums.bytes += *entry.bytes;
  sums.sync_ms += entry.sync_ms.value_or(0);
  if (entry.pages) {
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
  } else {
    ++sums.unseen;
    sums.unseen_bytes += *entry.bytes;
  }
  if (listed(entry)) list(std::move(entry), name);
}

bool Walk::listed(const WalkEntry& entry) {
  if (entry.failure) return entry.pages || found_.sums.unseen <= static_cast<double>(options_.top);
  const auto cached = static_cast<double>(entry.pages->cached);
  if (cached == 0) return options_.list_empty;
  if (top_.size() < options_.top) {
    top_.push_back(cached);
    std::push_heap(top_.begin(), top_.end(), std::greater<>());
    return true;
  }
  if (top_.empty() || cached <= top_.front()) return false;
  std::pop_heap(top_.begin(), top_.end(), std::greater<>());
  top_.back() = cached;
  std::push_heap(top_.begin(), top_.end(), std::greater<>());
  return true;
}

void Walk::list(WalkEntry entry, const std::string& name) {
  entry.path.bytes = name.empty() ? tree_.path() : tree_.path_of(name);
  found_bytes_ += entry.path.bytes.size();
  found_.entries.push_back(std::move(entry));
}

}  // namespace umaprobe

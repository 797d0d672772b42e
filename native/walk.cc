#include "walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

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
  if (options.method == CacheMethod::kCachestat) {
    sums_.dirty = 0;
    sums_.writeback = 0;
  }
}

void Walk::go_on(Flight& flight, Clock::duration slice) {
  const auto until = Clock::now() + slice;
  bool more = !full();
  while (more && !ended_.load(std::memory_order_relaxed) && !flight.abandoned()) {
    if (!advance(flight)) {
      std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
      break;
    }
    more = Clock::now() < until && !full();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (!tree_.empty()) at_path_ = tree_.path();
}

WalkBatch Walk::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  WalkBatch batch{options_.method == CacheMethod::kCachestat ? "cachestat" : "mincore",
                  std::move(outbox_),
                  sums_,
                  {at_path_},
                  done_};
  outbox_.clear();
  outbox_bytes_ = 0;
  return batch;
}

bool Walk::full() {
  std::lock_guard<std::mutex> lock(mutex_);
  return outbox_.size() >= kMostEntries || outbox_bytes_ >= kMostPathBytes;
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
  if (errno != 0) problem(tree_.path(), errno_failure("kernel", "getdents64", errno));
  if (!tree_.leave()) problem(tree_.path(), errno_failure("kernel", "openat ..", errno));
  return true;
}

// A path that was given may be a link, and the file behind it is what is meant. What it is comes
// first: opening a device can have effects.
void Walk::begin_root(Flight& flight, const std::string& path) {
  at_path_ = path;
  if (path.find('\0') != std::string::npos) return not_opened(path, "stat", EINVAL);
  flight.enter("stat");
  struct stat about {};
  if (::fstatat(AT_FDCWD, path.c_str(), &about, 0) != 0) return not_opened(path, "stat", errno);
  if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return listed("special", path);
  flight.enter("open");
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor opened(::open(path.c_str(), flags | O_NOATIME));
  if (!opened && errno == EPERM) opened = Descriptor(::open(path.c_str(), flags));
  if (!opened) return not_opened(path, "open", errno);
  if (::fstat(opened.get(), &about) != 0) return not_opened(path, "fstat", errno);
  if (file_systems_.of(about.st_dev, opened.get()) == FileSystem::kPseudo)
    return problem(path, pseudo_failure(path));
  if (S_ISDIR(about.st_mode)) return enter(flight, std::move(opened), about, path);
  look(flight, std::move(opened), about, path);
}

void Walk::visit(Flight& flight, const TreeEntry& entry) {
  unsigned char type = entry.type;
  if (type == DT_UNKNOWN) {
    flight.enter("fstatat");
    struct stat about {};
    if (::fstatat(tree_.directory(), entry.name.c_str(), &about,
                  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)
      return not_opened(tree_.path_of(entry.name), "fstatat", errno);
    type = IFTODT(about.st_mode);
  }
  if (type == DT_REG) return visit_file(flight, entry.name);
  if (type == DT_DIR) return visit_directory(flight, entry.name);
  listed(type == DT_LNK ? "link" : "special", tree_.path_of(entry.name));
}

void Walk::visit_directory(Flight& flight, const std::string& name) {
  flight.enter("openat");
  Descriptor directory = open_to_look(tree_.directory(), name.c_str(), O_DIRECTORY);
  if (!directory) return not_opened(tree_.path_of(name), "openat", errno);
  struct stat about {};
  if (::fstat(directory.get(), &about) != 0) return not_opened(tree_.path_of(name), "fstat", errno);
  if (about.st_dev != tree_.dev() &&
      file_systems_.of(about.st_dev, directory.get()) == FileSystem::kPseudo) {
    std::lock_guard<std::mutex> lock(mutex_);
    ++sums_.pseudo;
    return;
  }
  enter(flight, std::move(directory), about, name);
}

void Walk::visit_file(Flight& flight, const std::string& name) {
  flight.enter("openat");
  Descriptor file = open_to_look(tree_.directory(), name.c_str());
  // Since the directory was read: ENXIO a socket or a FIFO, ELOOP a link took its place.
  if (!file && errno == ENXIO) return listed("special", tree_.path_of(name));
  if (!file && errno == ELOOP) return listed("link", tree_.path_of(name));
  if (!file) return not_opened(tree_.path_of(name), "openat", errno);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return not_opened(tree_.path_of(name), "fstat", errno);
  if (!S_ISREG(about.st_mode)) return listed("special", tree_.path_of(name));
  look(flight, std::move(file), about, tree_.path_of(name));
}

void Walk::enter(Flight&, Descriptor directory, const struct stat& about, const std::string& name) {
  // Met before: a path given twice, or a mount that shows a directory again.
  if (!seen_.insert({about.st_dev, about.st_ino}).second)
    return listed("link", tree_.empty() ? name : tree_.path_of(name));
  tree_.enter(std::move(directory), about.st_dev, about.st_ino, name);
  std::lock_guard<std::mutex> lock(mutex_);
  ++sums_.directories;
}

void Walk::look(Flight& flight, Descriptor file, const struct stat& about,
                const std::string& path) {
  if (!seen_.insert({about.st_dev, about.st_ino}).second) return listed("link", path);
  const auto size = static_cast<uint64_t>(about.st_size);
  const bool memory = file_systems_.of(about.st_dev, file.get()) == FileSystem::kMemory;
  flight.enter(options_.method == CacheMethod::kCachestat ? "cachestat" : "mincore");
  Fact<CachedPages> found = cached_pages(options_.method, file.get(), 0, 0, size);
  WalkEntry entry{{path}, "file", size, about.st_dev, about.st_ino, {}, memory, {}, {}, {}};
  if (const Failure* failure = failure_of(found)) {
    entry.failure = *failure;
  } else {
    entry.pages = std::get<CachedPages>(found);
  }
  const bool asked = options_.evict && !memory && (!entry.pages || entry.pages->cached > 0);
  if (!asked) return deliver(std::move(entry));
  Eviction eviction(options_.method, file.get(), size, entry.pages);
  evicting_.emplace(Evicting{std::move(file), eviction, size, std::move(entry)});
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
  WalkEntry entry = std::move(evicting_->entry);
  if (entry.pages) {
    flight.enter("cachestat");
    Fact<CachedPages> left =
        cached_pages(options_.method, evicting_->file.get(), 0, 0, evicting_->size);
    if (const auto* pages = std::get_if<CachedPages>(&left)) entry.cached_after = pages->cached;
  }
  evicting_.reset();
  deliver(std::move(entry));
}

void Walk::listed(const char* what, const std::string& path) {
  const bool link = what[0] == 'l';
  std::lock_guard<std::mutex> lock(mutex_);
  ++(link ? sums_.links : sums_.special);
  if (!options_.list_empty) return;
  outbox_bytes_ += path.size();
  outbox_.push_back({{path}, what, {}, {}, {}, {}, false, {}, {}, {}});
}

void Walk::problem(const std::string& path, Failure failure) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++sums_.problems;
  outbox_bytes_ += path.size();
  outbox_.push_back({{path}, "problem", {}, {}, {}, {}, false, {}, {}, std::move(failure)});
}

// Below a given path, what is gone is gone. A given path that is not there is a mistake.
void Walk::not_opened(const std::string& path, const char* call, int error) {
  if (error != ENOENT || tree_.empty()) return problem(path, errno_failure("kernel", call, error));
  std::lock_guard<std::mutex> lock(mutex_);
  ++sums_.vanished;
}

void Walk::deliver(WalkEntry entry) {
  std::lock_guard<std::mutex> lock(mutex_);
  ++sums_.files;
  sums_.bytes += *entry.bytes;
  if (entry.pages) {
    const auto cached = static_cast<double>(entry.pages->cached);
    sums_.cached += cached;
    if (entry.memory) sums_.memory += cached;
    if (sums_.dirty) *sums_.dirty += static_cast<double>(entry.pages->dirty.value_or(0));
    if (sums_.writeback)
      *sums_.writeback += static_cast<double>(entry.pages->writeback.value_or(0));
    if (options_.evict) {
      if (!entry.cached_after) entry.cached_after = cached;
      sums_.cached_after += *entry.cached_after;
    }
    sums_.sync_ms += entry.sync_ms.value_or(0);
  } else {
    ++sums_.unseen;
    sums_.unseen_bytes += *entry.bytes;
  }
  const bool empty = entry.pages && entry.pages->cached == 0 && !entry.failure;
  if (empty && !options_.list_empty) return;
  outbox_bytes_ += entry.path.bytes.size();
  outbox_.push_back(std::move(entry));
}

}  // namespace umaprobe
